"""--prometheus: a real Prometheus reads what rules count and how many requests there were."""

import json
import os
import re
import shutil
import socket
import subprocess
import time
import unittest
import urllib.parse
import urllib.request

from harness import ROOT, TracerCase, machine

LOW_PORTS = 1 << 10  # CAP_NET_BIND_SERVICE
TARGETS = ROOT / "tests/runtime/targets"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def read(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


class PageCase(TracerCase):
    def until(self, done, what):
        """What `done` gives once it gives something."""
        end = time.monotonic() + 60 * machine.SLOWNESS
        while time.monotonic() < end:
            try:
                if found := done():
                    return found
            except OSError:
                pass
            time.sleep(0.05)
        self.fail(what + "\n" + (self.dir / "said.txt").read_text())

    def start(self, *command, **options):
        with open(self.dir / "said.txt", "ab") as said:
            process = subprocess.Popen(command, cwd=self.dir, stdin=subprocess.DEVNULL, stdout=said, stderr=said, **options)
        self.addCleanup(process.wait)
        self.addCleanup(lambda: process.poll() is None and process.terminate())
        return process

    def check_page(self, page):
        done = subprocess.run(["promtool", "check", "metrics"], input=page, text=True, capture_output=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


@unittest.skipUnless(shutil.which("prometheus") and shutil.which("ab"), "there is no prometheus, or no ab")
class Prometheus(PageCase):
    def test_requests(self):
        port, page_port, own_port = free_port(), free_port(), free_port()
        (self.dir / "data").write_bytes(b"x" * 4096)
        server = self.start("/usr/bin/python3", "-m", "gunicorn", "-b", f"127.0.0.1:{port}", "--chdir", str(TARGETS),
                            "serve_app:flask_app", env={**os.environ, "SERVE_LOG": str(self.dir / "log.txt"),
                                                        "SERVE_KIND": "flask", "SERVE_DATA": str(self.dir / "data")})
        self.until(lambda: read(f"http://127.0.0.1:{port}/fast"), "the server does not answer")
        self.start(str(machine.MLBCC), "serve", "--prometheus", f":{page_port}", "--pid", str(server.pid))
        self.until(lambda: "Ctrl-C ends" in (self.dir / "said.txt").read_text(), "no trace")
        (self.dir / "prometheus.yml").write_text(
            "scrape_configs: [{job_name: mlbcc, scrape_interval: 1s, static_configs: "
            f"[{{targets: ['127.0.0.1:{page_port}']}}]}}]\n")
        self.start("prometheus", "--config.file=prometheus.yml", f"--storage.tsdb.path={self.dir}/tsdb",
                   f"--web.listen-address=127.0.0.1:{own_port}")
        subprocess.run(["ab", "-q", "-n", "150", "-c", "4", f"http://127.0.0.1:{port}/fast"], check=True,
                       stdout=subprocess.DEVNULL, timeout=200)

        def requests():
            query = urllib.parse.quote('mlbcc_request_duration_seconds_count{endpoint="GET /fast"}')
            found = json.loads(read(f"http://127.0.0.1:{own_port}/api/v1/query?query={query}"))["data"]["result"]
            return found and found[0]["value"][1] == "150"
        self.until(requests, "Prometheus does not have all requests")
        page = read(f"http://127.0.0.1:{page_port}/metrics")
        self.check_page(page)
        self.assertIn('mlbcc_requests_total{endpoint="GET /fast"} 150\n', page)
        self.check_odd_paths(port, page_port)

    def check_odd_paths(self, port, page_port):
        """What clients send makes no page that Prometheus refuses, nor one without an end."""
        for path in [b"/caf\xe9", "/caf\xe9".encode(), b'/"\\', *(b"/%d" % i for i in range(60))]:
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                while client.recv(4096):
                    pass
        page = self.until(lambda: (text := read(f"http://127.0.0.1:{page_port}/metrics")).count('mlbcc_requests_total{endpoint="other"} 44\n') and text,
                          "no others")
        self.check_page(page)
        counts = dict(re.findall(r'^mlbcc_requests_total\{endpoint="(.*)"\} (\d+)$', page, re.MULTILINE))
        # The two names of a café are one label, if Prometheus asked while they were among the first.
        self.assertEqual(len(counts) + (counts.get("GET /caf\xe9") == "2"), 21, counts)
        self.assertEqual(sum(map(int, counts.values())), 150 + 63)

    def test_a_rule_of_an_odd_name(self):
        port = free_port()
        (self.dir / "odd.rules").write_text(
            'library c = "libc.so.6"\nvoid *malloc(size_t size);\n'
            'on c:malloc { sum size by function as "a \\"b\\" é"  hist size }\n')
        self.start(str(machine.MLBCC), "--rules", "odd.rules", "-o", "t.jsonl", "--prometheus", f":{port}", "--",
                   "sh", "-c", "for i in $(seq 400); do /bin/ls; sleep 0.05; done")
        page = self.until(lambda: (text := read(f"http://127.0.0.1:{port}/metrics")).count("rule_sum") and text, "no page")
        self.check_page(page)
        self.assertIn(r'name="a \"b\" é"', page)
        other = free_port()
        self.assertIn(f"Prometheus metrics are at http://127.0.0.1:{other}/metrics\n",
                      self.mlbcc("--rules", "odd.rules", "-o", "t2.jsonl", "--prometheus", f":{other}", "--", "true").stderr)
        taken = self.mlbcc("--rules", "odd.rules", "--prometheus", f":{port}", "--", "touch", "ran")
        self.assertIn("cannot listen at 127.0.0.1", taken.stderr)
        self.assertFalse((self.dir / "ran").exists())

    def test_what_tracing_cost(self):
        port, short = free_port(), machine.target("libentries.so")
        (self.dir / "short.rules").write_text(f'on "{short}":entry_push {{ span call }}\n')
        tracer = self.start(str(machine.MLBCC), "--rules", "short.rules", "-o", "t.jsonl", "--prometheus", f":{port}", "--",
                            machine.target("loop"), short, "entry_push", "20000", "100000")
        number = re.compile(r"^(mlbcc_trac\w+)(\{.*\})? (\S+)$", re.M)

        def page():
            text = read(f"http://127.0.0.1:{port}/metrics")
            values = {name: (labels, float(value)) for name, labels, value in number.findall(text)}
            return values.get("mlbcc_traced_cpu_seconds", ("", 0))[1] > 1 and (text, values)
        text, values = self.until(page, "no page with a second of CPU time")
        self.check_page(text)
        cost = values["mlbcc_tracing_cost_seconds"][1]
        self.assertGreater(cost, 0.2 * values["mlbcc_traced_cpu_seconds"][1])
        self.assertEqual(values["mlbcc_tracing_cost_of_function_seconds"],
                         ('{function="entry_push",library="libentries.so"}', cost))
        tracer.terminate()

    def test_its_threads_may_do_nothing(self):
        port = free_port()
        (self.dir / "any.rules").write_text("on syscall:getppid { count }\n")
        tracer = self.start(str(machine.MLBCC), "--rules", "any.rules", "-o", "t.jsonl", "--prometheus", f":{port}", "--",
                            "sleep", "1000")
        self.until(lambda: read(f"http://127.0.0.1:{port}/metrics"), "no page")

        def permitted():
            """Of each thread but the first."""
            found = []
            for thread in os.listdir(f"/proc/{tracer.pid}/task"):
                with open(f"/proc/{tracer.pid}/task/{thread}/status", encoding="utf-8") as file:
                    rights = next(line.split()[1] for line in file if line.startswith("CapPrm:"))
                if int(thread) != tracer.pid:
                    found.append(int(rights, 16))
            return found
        self.until(lambda: len(permitted()) > 4 and not any(rights & ~LOW_PORTS for rights in permitted()),
                   "threads have rights")  # those of the start end soon


if __name__ == "__main__":
    unittest.main()
