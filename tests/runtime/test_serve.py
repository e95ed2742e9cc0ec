"""mlbcc serve on real servers: each request is counted once, and its time is where it was made to be."""

import json
import math
import os
import re
import shutil
import signal
import socket
import ssl
import statistics
import subprocess
import time
import unittest
import unittest.mock
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from harness import machine
from harness.lanes import quiet
from harness.page import PageCase
from harness.server import DISK_READS, PYTHON, REQUESTS, TARGETS, TRUSTING, ServeCase, free_port


BURSTS = """
import http.server, subprocess, sys, threading, time
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(204)
        self.end_headers()
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = "import sys, urllib.request\\nfor _ in range(30): urllib.request.urlopen(sys.argv[1]).read()"
for pause in (0.8, 0.3):
    subprocess.run([sys.executable, "-c", client, f"http://127.0.0.1:{server.server_port}/"], check=True)
    time.sleep(pause)
"""


class Flask(ServeCase):
    def test_two_workers(self):
        endpoints, own = self.serve("flask", "gunicorn", "-w", "2", "-b", "127.0.0.1:{port}", "--chdir", "{targets}",
                                    "serve_app:flask_app")
        self.check_counts(endpoints, own)
        self.check_medians(endpoints, own)
        for name, part in {"GET /cpu": "cpu", "GET /disk": "disk", "GET /lock": "lock"}.items():
            # How long one waits for a CPU is this machine's doing.
            parts = {part: ns for part, ns in endpoints[name]["parts_ns"].items() if part != "run queue"}
            self.assertEqual(max(parts, key=parts.get), part, (name, parts))
        self.assertRegex(self.said, rf"GET /lock +{REQUESTS} ")
        # On a busy machine the slowest one may have waited for a CPU only.
        slowest = endpoints["GET /lock"]["slowest"][0]["parts_ns"]
        self.assertRegex(self.said, rf"GET /lock +[\d.]+ ms at [\d.]+ s by thread \d+: {max(slowest, key=slowest.get)} [\d.]+ %")
        self.assertFalse((self.dir / "traces").exists())

    def test_its_system_calls_and_stacks(self):
        """gunicorn writes its answer in two pieces, and asks for the socket's name in between; the line that the application writes comes behind it."""
        endpoints, own = self.serve("flask", "gunicorn", "-b", "127.0.0.1:{port}", "--chdir", "{targets}", "serve_app:flask_app",
                                    options=("--stacks", "--syscalls", "write,sendto,preadv2,getsockname,fsync"))
        self.check_counts(endpoints, own)
        for name, one in endpoints.items():
            calls = {call: use["calls"] for call, use in one["system_calls"].items()}
            requests = one["requests"]
            wanted = {"sendto": 2 * requests, "getsockname": requests}
            if name == "GET /disk":
                wanted["preadv2"] = DISK_READS * requests
                self.assertGreater(one["system_calls"]["preadv2"]["time_ns"], one["parts_ns"]["disk"])
            self.assertEqual(calls, wanted, name)
        for name, part, function in (("GET /lock", "lock", "serve_app.py:lock"), ("GET /disk", "disk", "serve_app.py:disk")):
            longest = endpoints[name]["waits"][0]
            self.assertEqual(longest["part"], part)
            self.assertIn(function, " ".join(longest["stack"]))
            waited = sum(one["time_ns"] for one in endpoints[name]["waits"] if one["part"] == part)
            self.assertGreater(waited, 0.9 * endpoints[name]["parts_ns"][part])
            self.assertTrue(endpoints[name]["slowest"][0]["waits"])
            self.assertRegex(self.said, rf"{name} +{part} [\d.]+ %: .*{function}")
        self.assertRegex(self.said, r"GET /fast .*sendto 2\.0 in [0-9.]+ us")
        bad = self.mlbcc("serve", "--syscalls", "read,wr*", "--", "true")
        self.assertEqual(bad.returncode, 2)
        self.assertIn("`wr*` is not the name of a system call", bad.stderr)
        bad = self.mlbcc("serve", "--syscalls", "reed", "--", "true")
        self.assertEqual(bad.returncode, 2)
        self.assertIn("--syscalls:1", bad.stderr)

    def test_its_calls_by_category(self):
        """As strace has them of the worker, from behind the request's line to its answer: getsockname and two of sendto; openat, four of preadv2 and close."""
        self.paths = ("disk", "lock")
        endpoints, _ = self.serve("flask", "gunicorn", "-b", "127.0.0.1:{port}", "--chdir", "{targets}", "serve_app:flask_app",
                                  options=("--syscalls", "categories"), load=50)
        for name, wanted in (("GET /disk", {"network": 3, "file_io": 6}), ("GET /lock", {"network": 3})):
            calls = {call: use["calls"] / endpoints[name]["requests"] for call, use in endpoints[name]["system_calls"].items()}
            self.assertEqual({call: calls.get(call) for call in wanted}, wanted, calls)
        self.assertGreater(endpoints["GET /lock"]["system_calls"]["ipc"]["time_ns"], endpoints["GET /lock"]["parts_ns"]["lock"])
        bad = self.mlbcc("serve", "--syscalls", "categories,read", "--", "true")
        self.assertEqual(bad.returncode, 2)
        self.assertIn("give it alone", bad.stderr)

    def test_what_is_shown_of_a_running_one(self):
        """--pid, --top and the trace that is kept; and what --no-http sees."""
        port = free_port()
        environment = {**os.environ, "SERVE_LOG": str(self.dir / "log.txt"), "SERVE_KIND": "flask",
                       "SERVE_DATA": str(self.make_data(port))}
        server = subprocess.Popen(
            [PYTHON, "-m", "gunicorn", "-b", f"127.0.0.1:{port}", "--chdir", str(TARGETS), "serve_app:flask_app"],
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.dir)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        self.wait_for(server, f"http://127.0.0.1:{port}/fast")
        live = self.look(server, port, "--top", "1", "-o", "kept.jsonl")
        self.assertEqual({one["endpoint"]: one["requests"] for one in live}, {"GET /fast": 60, "GET /cpu": 20})
        self.assertIn("and 1 endpoint with fewer (--top)", (self.dir / "said.txt").read_text())
        saved = self.mlbcc("report", "kept.jsonl", "--json", "again.json")
        self.assertRegex(saved.stdout, "GET /cpu +20 ")
        self.assertEqual(json.loads((self.dir / "again.json").read_text())["endpoints"], live)
        unread, = self.look(server, port, "--no-http")
        self.assertEqual((unread["endpoint"], unread["requests"]), ("(all)", 80))

    def look(self, server, port, *options):
        """Endpoints, of 60 requests and 20 while mlbcc looks at a running server."""
        out, said = self.dir / "live.json", self.dir / "said.txt"
        with open(said, "wb") as to:
            tracer = subprocess.Popen([str(machine.MLBCC), "serve", "--pid", str(server.pid), "--json", str(out), *options],
                                      cwd=self.dir, stderr=to, stdin=subprocess.DEVNULL)
        try:
            end = time.monotonic() + 60 * machine.SLOWNESS
            while "Ctrl-C ends" not in said.read_text() and time.monotonic() < end:
                time.sleep(0.02)
            self.load(f"http://127.0.0.1:{port}/fast", 60)
            self.load(f"http://127.0.0.1:{port}/cpu", 20)
        finally:
            tracer.send_signal(signal.SIGINT)
            status = tracer.wait(60 * machine.SLOWNESS)
        self.assertEqual(status, 0, said.read_text())
        return json.loads(out.read_text())["endpoints"]


@quiet
class Shown(PageCase, ServeCase):
    paths = ("cpu", "lock")

    def test_on_a_page(self):
        endpoints, _ = self.serve("flask", "gunicorn", "-b", "127.0.0.1:{port}", "--chdir", "{targets}", "serve_app:flask_app",
                                  options=("-o", self.out), load=30)
        seen = self.page(self.out, "requests")
        self.assertIn("requests-part", seen["sections"])
        titles, *rows = seen["requests"]
        self.assertEqual(len(rows), len(endpoints))
        for row in (dict(zip(titles, row)) for row in rows):
            one = endpoints[row["Endpoint"]]
            self.assertEqual(int(row["Requests"]), one["requests"])
            self.assertEqual(row["Slow ones"], one["hotspot"])
            most = one["most"]
            share = 100 * one["parts_ns"][most] / one["total_time_ns"]
            self.assertTrue(row["Where the time went"].startswith(f"{most} {share:.1f} %"), row)
            self.assertRegex(row["The slowest"], rf" by thread {one['slowest'][0]['tid']}: ")
        self.assertLess(seen["sections"].index("requests-part"), seen["sections"].index("timeline-part"))


@quiet
class OwnParts(ServeCase):
    """Parts of a request that are functions of libraries: those of a GPU's driver, and what other rules name."""

    paths = ("fast", "cpu", "gpu")

    def test_a_model_and_a_gpu(self):
        rules = self.rules("""
            on entry "libblas.so.3":cblas_sgemm { event serve.begin(part = "model") }
            on       "libblas.so.3":cblas_sgemm { event serve.end() }
            """)
        with unittest.mock.patch.dict(os.environ, SERVE_GPU=str(machine.CUDA_SIM / "libcuda.so.1"), CUDA_SIM_QUIET="1",
                                      LD_LIBRARY_PATH=str(machine.CUDA_SIM)):
            endpoints, own = self.serve("flask", "gunicorn", "-b", "127.0.0.1:{port}", "--chdir", "{targets}", "serve_app:flask_app",
                                        options=("--rules", "serve_gpu", "--rules", str(rules)), load=50)
        self.assertEqual({name: one["requests"] for name, one in endpoints.items()}, {name: len(times) for name, times in own.items()})
        for one in endpoints.values():
            self.assertEqual(sum(one["parts_ns"].values()), one["total_time_ns"], one)
        parts = {name: one["parts_ns"] for name, one in endpoints.items()}
        computing = {part: ns for part, ns in parts["GET /cpu"].items() if part != "run queue"}
        self.assertEqual(max(computing, key=computing.get), "model")
        if parts["GET /cpu"].get("run queue", 0) < 0.1 * sum(computing.values()):  # else slow ones wait for the CPU
            self.assertEqual(endpoints["GET /cpu"]["hotspot"], "model")
        self.assertGreater(parts["GET /cpu"]["model"], parts["GET /cpu"]["cpu"])
        self.assertGreater(parts["GET /gpu"]["GPU copy"], 0)
        self.assertGreater(parts["GET /gpu"]["GPU wait"], 0)
        self.assertGreater(parts["GET /gpu"]["GPU copy"], parts["GET /gpu"]["GPU wait"])
        for name, of in parts.items():
            self.assertGreater(of["sending"], 0, name)
            self.assertEqual(of.get("model", 0) > 0, name == "GET /cpu", name)
            self.assertEqual(of.get("GPU copy", 0) > 0, name == "GET /gpu", name)


class Pieces(ServeCase):
    """Servers that give the kernel several buffers at once."""

    paths = ("fast",)

    def test_vectors_and_messages(self):
        with unittest.mock.patch.dict(os.environ, PYTHONPATH=str(TARGETS)):
            endpoints, _ = self.serve("none", "serve_pieces", "{port}")
        self.assertEqual({name: one["requests"] for name, one in endpoints.items()}, {"GET /fast": REQUESTS + 1})
        one = endpoints["GET /fast"]
        self.assertEqual((one["unanswered"], one["client_errors"], one["server_errors"]), (0, 0, 0))
        self.assertGreater(one["parts_ns"]["sending"], 0)


@quiet
@unittest.skipUnless(shutil.which("openssl"), "there is no openssl")
class Tls(ServeCase):
    """What is encrypted is read where OpenSSL has it unencrypted."""

    scheme = "https"

    def setUp(self):
        super().setUp()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", "key.pem",
                        "-out", "cert.pem"], cwd=self.dir, check=True, capture_output=True)

    def load(self, url, requests):
        """ab takes a connection that gunicorn ends without a last word for an error."""
        def ask(_):
            with urllib.request.urlopen(url, timeout=60, context=TRUSTING) as answer:
                return answer.status
        with ThreadPoolExecutor(8) as pool:
            self.assertEqual(list(pool.map(ask, range(requests))), [200] * requests)

    def check(self, endpoints, own):
        self.check_counts(endpoints, own, 50)
        for name, times in own.items():
            median, its = endpoints[name]["latency_ns"]["p50"], statistics.median_low(times)
            self.assertGreaterEqual(median, its * 0.9, name)
            self.assertLessEqual(median, its + max(0.1 * its, 2e6), name)
        self.assertGreater(endpoints["GET /lock"]["parts_ns"]["lock"], 0.5 * endpoints["GET /lock"]["total_time_ns"])

    def test_on_a_socket(self):
        self.check(*self.serve("flask", "gunicorn", "-w", "2", "-b", "127.0.0.1:{port}", "--certfile", "cert.pem", "--keyfile", "key.pem",
                               "--pythonpath", "{targets}", "serve_app:flask_app", load=50))

    def test_in_memory(self):
        """asyncio encrypts into memory, which it sends itself."""
        self.check(*self.serve("fast", "uvicorn", "--port", "{port}", "--app-dir", "{targets}", "--log-level", "warning",
                               "--ssl-certfile", "cert.pem", "--ssl-keyfile", "key.pem", "serve_app:fast_app", load=50))


class FastApi(ServeCase):
    def test_an_event_loop(self):
        endpoints, own = self.serve("fast", "uvicorn", "--port", "{port}", "--app-dir", "{targets}", "--log-level",
                                    "warning", "serve_app:fast_app")
        self.check_counts(endpoints, own)
        self.check_medians(endpoints, own)
        # All of them work in threads of a pool, whose time is that of the requests. On a busy machine such threads
        # wait most of all for the interpreter's lock; for a disk only those that read one.
        for name, one in endpoints.items():
            parts, total = one["parts_ns"], one["total_time_ns"]
            at_work = total - parts.get("run queue", 0) - parts.get("event loop", 0)
            if name == "GET /disk":
                self.assertGreater(parts["disk"], 0.15 * at_work, parts)
            else:
                self.assertLess(parts.get("disk", 0), 0.05 * total, (name, parts))
            if name == "GET /lock":
                self.assertGreater(parts["lock"], 0.5 * at_work, parts)
            else:  # the interpreter's is apart
                self.assertLess(parts.get("lock", 0), 0.05 * total, (name, parts))
            self.assertLess(parts.get("poll", 0) + parts.get("shared", 0) + parts.get("handed over", 0),
                            0.25 * total, (name, parts))


@quiet
class Processes(ServeCase):
    """What the processes of a pool do is the time of the requests that they work for."""

    def parts_of(self, path):
        """Its parts, their sum, how long processes computed for it, and the server itself."""
        self.paths = ("fast", path)
        with unittest.mock.patch.dict(os.environ, SERVE_PROCESSES="2"):
            endpoints, own = self.serve("fast", "uvicorn", "--port", "{port}", "--app-dir", "{targets}", "--log-level",
                                        "warning", "serve_app:fast_app", load=60)
        work, server = own.pop("GET /work"), own.pop("GET /server")
        self.assertEqual({name: one["requests"] for name, one in endpoints.items()}, {name: len(times) for name, times in own.items()})
        parts, total = endpoints[f"GET /{path}"]["parts_ns"], endpoints[f"GET /{path}"]["total_time_ns"]
        self.assertEqual(sum(parts.values()), total)
        return parts, total, sum(work), max(server) - min(server)

    def test_a_pool_of_two(self):
        parts, total, work, server = self.parts_of("pool")
        self.assertGreater(parts["cpu"], 0.9 * work, parts)
        self.assertLess(parts["cpu"], 1.1 * (work + server), (parts, work, server))
        self.assertGreater(parts["disk"], 0.05e9, parts)
        # Two at a time of eight: the others wait.
        self.assertGreater(parts["poll"], 0.4 * total, parts)
        self.assertLess(parts.get("shared", 0), 0.05 * total, parts)

    def test_a_thread_that_reads_their_answers(self):
        """It computes before it asks, and behind the answer: that is the request's time, too."""
        parts, total, work, server = self.parts_of("asks")
        self.assertGreater(parts["cpu"], 0.9 * (work + server), (parts, work, server))
        self.assertLess(parts["cpu"], 1.1 * (work + server), (parts, work, server))
        self.assertLess(parts.get("shared", 0), 0.05 * total, parts)


class Marker(ServeCase):
    """A server that tells whose work its threads do: requests of several endpoints at a time do not mix."""

    def test_two_endpoints_at_a_time(self):
        library = machine.TARGETS / "librequest_mark.so"
        with unittest.mock.patch.dict(os.environ, SERVE_MARKER=str(library)):
            endpoints, own = self.serve("fast", "uvicorn", "--port", "{port}", "--app-dir", "{targets}", "--log-level",
                                        "warning", "serve_app:fast_app", options=("--marker", f"{library}:works_for"), load=60)
        self.check_counts(endpoints, own, 60)
        for name, one in endpoints.items():
            # Those in the middle of so few may be 5 ms apart, as long as a thread may keep the interpreter's lock.
            times, median = sorted(self.middleware[name]), one["work_latency_ns"]["p50"]
            low, high = times[len(times) // 2 - 3], times[len(times) // 2 + 3]
            self.assertGreaterEqual(median, low - max(0.01 * low, 2e5), name)
            self.assertLessEqual(median, high + max(0.01 * high, 2e5), name)
            self.assertLessEqual(one["work_latency_ns"]["max"], one["latency_ns"]["max"])
            parts, total = one["parts_ns"], one["total_time_ns"]
            at_work = total - parts.get("run queue", 0) - parts.get("event loop", 0)
            # Without it more than 0.7. A new thread of the pool is not known until it says so.
            self.assertLess(parts.get("shared", 0), 0.05 * total, (name, parts))
            self.assertEqual(parts.get("disk", 0) > 0.5 * at_work, name == "GET /disk", (name, parts))
            if name in ("GET /cpu", "GET /fast"):
                self.assertLess(parts.get("disk", 0), 0.01 * total, (name, parts))
        self.assertGreater(endpoints["GET /cpu"]["parts_ns"]["cpu"] / 60, 0.02e9 * 0.95)
        self.assertLess(endpoints["GET /fast"]["parts_ns"]["cpu"] / 60, 0.005e9)

    def load(self, url, requests):
        """All of the endpoints at the same time, when the first is asked for."""
        if not url.endswith(self.paths[0]):
            return
        with ThreadPoolExecutor(len(self.paths)) as pool:
            base = url.rpartition("/")[0]
            list(pool.map(lambda path: super(Marker, self).load(f"{base}/{path}", requests), self.paths))

    def test_nothing_is_asked(self):
        done = self.mlbcc("serve", "--", "true")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"requests are shown at the end; --interval 5s shows them meanwhile, too\n"
                                      r"=== REQUESTS ===  [\d.]+ s, 0 requests, 0.0 per second\n\nno request was seen: is this the server's process")
        self.assertNotIn("endpoint", done.stderr)

    def test_the_rate_of_the_last_interval(self):
        """Two bursts with a pause between them: the rate since the beginning has the pause in it."""
        self.write("bursts.py", BURSTS)
        done = self.mlbcc("serve", "--interval", "200ms", "--", PYTHON, self.dir / "bursts.py")
        shown = re.findall(r"=== REQUESTS ===  ([\d.]+) s, (\d+) requests?, ([\d.]+) per second(?: \(([\d.]+) in the last ([\d.]+) s\))?", done.stderr)
        *meanwhile, last = [[float(one or "nan") for one in table] for table in shown]
        self.assertGreater(len(meanwhile), 4)
        self.assertEqual(last[1], 60)
        self.assertTrue(math.isnan(last[3]), "at the end there is no interval")
        before, idle = 0, 0
        for _, requests, _, rate, seconds in meanwhile:
            self.assertAlmostEqual(rate * seconds, requests - before, delta=0.06 * seconds + 0.006 * rate)
            idle += rate == 0 and before == 30
            before = requests
        self.assertGreater(idle, 1, meanwhile)

    def test_mistakes(self):
        for marker, said in (("works_for", "does not name a function of a library"), ("./no.so:works-for", "does not name a function of a library"),
                             ("./no.so:works_for", "./no.so")):
            done = self.mlbcc("serve", "--marker", marker, "--", "true")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
