"""`stack python` on this kernel: what its verifier thinks of the walk, and what it finds."""

import json
import subprocess
import time
from collections import defaultdict

from harness import ROOT
from inside.case import LIMIT, VmCase

CALLS = ROOT / "tests" / "runtime" / "targets" / "python_calls.py"
TOLD = "import runpy; print('ready', flush=True); input(); runpy.run_path({!r}, run_name='__main__')"


class Python(VmCase):
    def wait_until(self, said, live):
        end = time.monotonic() + LIMIT
        while said not in live.said():
            self.assertIsNone(live.process.poll(), live.said())
            self.assertLess(time.monotonic(), end, live.said())
            time.sleep(0.1)

    def test_each_call_is_made_in_the_functions_that_python_says(self):
        self.check("on syscall:getppid, syscall:fdatasync { event mark  stack python }")

    def test_by_one_program_for_many_system_calls(self):
        self.check("""
            on syscall:getppid { event mark  stack python }
            on entry syscall:fdatasync { event mark(at = fd)  stack python }
            on syscall:fdatasync { hist duration }
            on syscall:read { where ret > 100000000   event other(ret)   stack python }
            on syscall:ptrace { event other(request)   stack python }
            on syscall:close { hist duration }
            on syscall:write { count }
            """)

    def check(self, rules):
        """Of a process that runs: here nothing is known of a Python from its first instruction on."""
        child = subprocess.Popen(["/usr/bin/python3", "-I", "-c", TOLD.format(str(CALLS))],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.kill)
        self.assertEqual(child.stdout.readline(), "ready\n")
        live = self.start(rules, "-v", "--pid", child.pid)
        self.wait_until("Ctrl-C ends the trace", live)
        out, _ = child.communicate("\n")
        self.assertEqual(live.wait(LIMIT), 0, live.said())
        said, seen = defaultdict(list), defaultdict(list)
        for line in out.splitlines():
            for tid, stack in json.loads(line)[1]:
                said[tid].append(stack)
        for event in live.trace().events:
            seen[event["tid"]].append(event.get("stack"))
        self.assertGreater(sum(map(len, said.values())), 150)
        self.assertEqual(seen, said)


class Profile(VmCase):
    def test_the_whole_of_it(self):
        """All of its rules are more than any others ask of a kernel's verifier."""
        script = self.write("job.py", "import time\ndef rest(): time.sleep(.5)\nrest()\nopen('/etc/hostname').read()\n")
        done = self.mlbcc("profile", "-o", self.out, "--json", self.dir / "profile.json", "--", "/usr/bin/python3", "-S", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        profile = json.loads((self.dir / "profile.json").read_text())
        self.assertEqual(profile["lost"], 0)
        self.assertEqual(profile["processes"][0]["exit_status"], 0)
        self.assertIn("/etc/hostname", [f["path"] for f in profile["files"]["files"]])
        waits = [one for one in profile["off_cpu"]["long_waits"] if "job.py:rest" in one["stack"]]
        self.assertGreater(sum(one["total_time_ns"] for one in waits), 450_000_000)


ANSWERS = """
import socket, threading
def ask():
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(path)
        for _ in range(20):
            one.sendall(b'GET /a HTTP/1.1\\r\\n\\r\\n')
            one.recv(1000)
path = __file__ + '.socket'
with socket.socket(socket.AF_UNIX) as server:
    server.bind(path)
    server.listen()
    threading.Thread(target=ask).start()
    connection, _ = server.accept()
    while connection.recv(1000):
        connection.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok')
"""


class Serve(VmCase):
    def test_with_all_that_can_be_asked_for(self):
        for options in ((), ("--stacks", "--syscalls", "categories")):
            out = self.dir / "serve.json"
            done = self.mlbcc("serve", "--json", out, *options, "--", "/usr/bin/python3", "-S", self.write("server.py", ANSWERS))
            self.assertEqual(done.returncode, 0, done.stderr)
            report = json.loads(out.read_text())
            (self.dir / "server.py.socket").unlink()
            self.assertEqual((report["lost"], [(one["endpoint"], one["requests"]) for one in report["endpoints"]]), (0, [("GET /a", 20)]))
