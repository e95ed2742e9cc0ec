"""What is not over when the trace ends: waits and connections count with their time until then."""

import csv
import io
import json
import os
import socket
import subprocess
import time

from harness import MLBCC, TracerCase
from harness.trace import Trace

PYTHON = "/usr/bin/python3"
# Two threads wait for each other's locks, the first for them.
DEADLOCK = """
import threading, time
a, b = threading.Lock(), threading.Lock()
def cross(mine, other):
    with mine:
        time.sleep(0.1)
        with other: pass
for locks in ((a, b), (b, a)):
    threading.Thread(target=cross, args=locks).start()
"""
WAITS = """
on sched:off_cpu { event sched.off_cpu(state, system_call, argument, file)  sum duration by tid as "off" }
on lock:futex { event lock.wait(address, operation, result)  count by tid as "waits" }
"""
# More connections than a listener's queue has room for: the kernel lets the rest wait.
CONNECTS = """
import socket, sys, time
kept = [socket.socket() for i in range(8)]
for one in kept:
    one.setblocking(False)
    one.connect_ex(("127.0.0.1", int(sys.argv[1])))
time.sleep(3)
"""
# Its answers: at once, never, and only after long work.
SERVER = """
import hashlib, http.server, socketserver, threading, time
never = threading.Lock()
never.acquire()
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/hang":
            never.acquire()
        end = time.monotonic() + 10
        while self.path == "/compute" and time.monotonic() < end:
            hashlib.sha256(bytes(1 << 20)).digest()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *arguments): pass
class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


class GoingOn(TracerCase):
    def deadlocked(self):
        process = subprocess.Popen([PYTHON, "-c", DEADLOCK], stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        while len(os.listdir(f"/proc/{process.pid}/task")) < 3:
            time.sleep(0.01)
        time.sleep(0.3)
        return process.pid

    def trace_for(self, seconds, rules, *arguments):
        """Not until the program ends: for a time."""
        done = self.mlbcc("--rules", self.rules(rules), "-o", self.out, "-d", f"{seconds}s", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Trace(self.out)

    def test_threads_that_never_ran(self):
        """A deadlock that is older than the trace: three waits from its beginning to its end."""
        pid = self.deadlocked()
        threads = sorted(map(int, os.listdir(f"/proc/{pid}/task")))
        trace = self.trace_for(1, WAITS, "--pid", pid)
        off = [e for e in trace.events if e["type"] == "sched"]
        self.assertEqual(sorted(e["tid"] for e in off), threads)
        for e in off:
            self.assertTrue(e["goes_on"])
            self.assertEqual((e["comm"], e["args"]["state"]), ("python3", "sleeping"))
            with open(f"/proc/{pid}/task/{e['tid']}/syscall", encoding="ascii") as file:
                number, argument = file.read().split()[:2]
            self.assertEqual((e["args"]["system_call"], e["args"]["argument"]), (int(number), argument))
            self.assertGreater(e["duration_us"], 0.9e6)
            self.assertLessEqual(e["ts"] + e["duration_us"] / 1_000_000, trace.summary["ts"])
        sums = trace.stats("off")
        self.assertEqual({e["tid"]: int(e["duration_us"] * 1000) for e in off}, {tid: sums[tid,] for tid in threads})
        waits = [e for e in trace.events if e["type"] == "lock"]
        self.assertEqual(sorted(e["tid"] for e in waits), threads)
        self.assertEqual({e["args"]["result"] for e in waits}, {-115})
        self.assertEqual(trace.summary["going_on"], {"sched:off_cpu": 3, "lock:futex": 3})

    def test_how_it_is_shown(self):
        trace = self.trace_for(1, WAITS, "--pid", self.deadlocked())
        self.assertEqual(len(trace.events), 6)
        note = "3 of sched:off_cpu were not over when the trace ended"
        self.assertIn(note, self.last.stderr)
        self.assertIn(note, self.mlbcc("report", self.out).stdout)
        self.assertRegex(self.mlbcc("report", "--top", "3", self.out).stdout, r"sched +off_cpu +3 +[0-9.]+ s +")
        rows = list(csv.DictReader(io.StringIO(self.mlbcc("convert", self.out, "--to", "csv", "-o", "-").stdout)))
        self.assertEqual([row["incomplete"] for row in rows], ["open"] * 6)
        self.assertTrue(all(float(row["duration_us"]) > 0.9e6 for row in rows), rows)

    def test_in_a_pid_namespace(self):
        """There the tracer does not know the kernel's numbers of threads."""
        script = f"""{PYTHON} "$1" & sleep 0.6
            {MLBCC} --quiet --rules "$2" -o "$3" --pid $! -d 1s; kill -9 $!"""
        done = subprocess.run(["unshare", "-pf", "--mount-proc", "sh", "-c", script, "sh", self.write("hang.py", DEADLOCK),
                               self.rules(WAITS), self.out], capture_output=True, text=True, check=False)
        off = [e for e in Trace(self.out).events if e["type"] == "sched"]
        self.assertEqual({e["comm"] for e in off}, {"python3"}, done.stderr)
        self.assertEqual((len(off), len({e["tid"] for e in off} | {off[0]["pid"]})), (3, 3))
        self.assertTrue(all(e["goes_on"] and e["duration_us"] > 0.9e6 for e in off), off)

    def test_a_wait_that_began_in_the_trace(self):
        """It has its stack, and those before it are as ever."""
        trace = self.trace_for(1.5, "on sched:off_cpu { where state == sleeping  event sched.off_cpu(system_call)"
                                    '  stack user  hist duration as "Off" }',
                               "--", PYTHON, "-c", "import time\ntime.sleep(0.2)\ntime.sleep(3)")
        short, = [e for e in trace.events if 0.19e6 < e["duration_us"] < 0.4e6]
        self.assertNotIn("goes_on", short)
        last, = [e for e in trace.events if "goes_on" in e]
        self.assertAlmostEqual(float(last["ts"] + last["duration_us"] / 1_000_000), 1.5, delta=0.2)
        self.assertTrue(any("nanosleep" in frame for frame in last["stack"]), last["stack"])
        off, = trace.summary["hists"]
        self.assertEqual(off["sum"], int(sum(e["duration_us"] for e in trace.events) * 1000))
        self.assertEqual(trace.summary["going_on"], {"sched:off_cpu": 1})

    def test_nothing_goes_on_when_the_program_has_ended(self):
        trace = self.trace(WAITS, PYTHON, "-c", "import time; time.sleep(0.1)")
        self.assertGreater(len(trace.events), 0)
        self.assertFalse([e for e in trace.events if "goes_on" in e])
        self.assertNotIn("going_on", trace.summary)

    def test_connections_that_are_not_answered(self):
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen(0)
            port = server.getsockname()[1]
            trace = self.trace_for(1, "on net:tcp { where operation == tcp_connect  event tcp.connect(remote_port, error)"
                                      '  count by error as "Made" }', "--", PYTHON, "-c", CONNECTS, str(port))
        made = trace.stats("Made")
        waiting = [e for e in trace.events if e.get("goes_on")]
        self.assertEqual(sum(made.values()), 8)
        self.assertGreater(len(waiting), 0)
        self.assertEqual(made[115,], len(waiting))
        for e in waiting:
            self.assertEqual(e["args"], {"remote_port": port, "error": 115})
            self.assertGreater(e["duration_us"], 0.1e6)

    def test_a_profile_of_a_deadlock(self):
        pid = self.deadlocked()
        done = self.mlbcc("profile", "--pid", pid, "-d", "1s", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        off = json.loads(done.stdout)["off_cpu"]
        threads = os.listdir(f"/proc/{pid}/task")
        self.assertEqual(sorted(off["thread_stats"]), sorted(f"{pid}:{tid}" for tid in threads))
        for thread in off["thread_stats"].values():
            self.assertEqual(thread["reasons_ns"], {"lock": thread["total_time_ns"]})
            self.assertGreater(thread["total_time_ns"], 0.9e9)

    def test_a_request_that_is_not_answered(self):
        """One waits for a lock that nobody gives, another computes; the rest are as ever."""
        server = subprocess.Popen([PYTHON, "-c", SERVER], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        port = int(server.stdout.readline())
        live = subprocess.Popen([MLBCC, "serve", "--pid", str(server.pid), "-d", "3s", "--json", self.dir / "serve.json"],
                                stderr=subprocess.PIPE, text=True, cwd=self.dir)
        while "tracing" not in live.stderr.readline():
            self.assertIsNone(live.poll())
        asked = []
        for path in ("/short", "/hang", "/compute"):
            asked.append(socket.create_connection(("127.0.0.1", port)))
            asked[-1].sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            time.sleep(0.2)
        said = live.communicate()[1]
        for one in asked:
            one.close()
        self.assertRegex(said, r"not answered when the trace ended\n.*GET /(hang|compute)")
        report = json.loads((self.dir / "serve.json").read_text())
        self.assertEqual((report["waiting"], report["overdue"]), (2, 0))
        use = {one["endpoint"]: one for one in report["endpoints"]}
        self.assertNotIn("open", use["GET /short"])
        for name, part in (("GET /hang", "lock"), ("GET /compute", "cpu")):
            self.assertEqual((use[name]["requests"], use[name]["open"]), (0, 1))
            longest, = use[name]["longest_open"]
            self.assertGreater(longest["duration_ns"], 1e9)
            self.assertEqual(sum(longest["parts_ns"].values()), longest["duration_ns"])
            busy = longest["parts_ns"].get(part, 0) + longest["parts_ns"].get("run queue", 0) + longest["parts_ns"].get("GIL", 0)
            self.assertGreater(busy, 0.95 * longest["duration_ns"], longest)
            self.assertGreater(longest["parts_ns"][part], 0.1 * longest["duration_ns"], longest)

    def test_the_rules_change_meanwhile(self):
        """Each set of rules has its part of the wait."""
        def rules(name):
            return f"on sched:off_cpu {{ event {name}.off_cpu }}\non interval:50ms {{ event {name}.look(resident) }}"
        live = self.start(rules("a"), "--pid", self.deadlocked(), "--watch", "--reload-wait", "100ms")
        live.wait_for('"type":"a"')
        time.sleep(0.5)
        self.rules(rules("b"))
        live.wait_for('"type":"b"')
        time.sleep(0.5)
        live.interrupt()
        live.wait()
        events = live.trace().events
        parts = {name: [e for e in events if e["type"] == name and e.get("goes_on")] for name in "ab"}
        self.assertEqual({name: len(part) for name, part in parts.items()}, {"a": 3, "b": 3})
        for one in parts["a"]:
            other, = [e for e in parts["b"] if e["tid"] == one["tid"]]
            self.assertAlmostEqual(float(one["ts"] + one["duration_us"] / 1_000_000), float(other["ts"]), delta=0.1)
