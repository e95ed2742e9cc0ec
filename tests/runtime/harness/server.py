"""A server under `mlbcc serve`, and ab that asks it."""

import json
import os
import shutil
import signal
import socket
import ssl
import statistics
import subprocess
import time
import unittest
import urllib.request
from collections import defaultdict

from . import machine
from .case import TracerCase
from .machine import ROOT

TARGETS = ROOT / "tests/runtime/targets"
PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's servers
REQUESTS = 200
DISK_READS = 4  # of 4 MiB, by a request of /disk
TRUSTING = ssl._create_unverified_context()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@unittest.skipUnless(shutil.which("ab"), "there is no ab")
class ServeCase(TracerCase):
    scheme, paths = "http", ("fast", "cpu", "disk", "lock")

    def serve(self, kind, *command, options=(), load=REQUESTS):
        """What mlbcc says of a server under load by ab, and how long the server itself says that requests took."""
        port, log, out = free_port(), self.dir / "log.txt", self.dir / "out.json"
        environment = {**os.environ, "SERVE_LOG": str(log), "SERVE_KIND": kind,
                       "SERVE_DATA": str(self.make_data(port))}
        command = [word.format(port=port, targets=TARGETS) for word in command]
        with open(self.dir / "said.txt", "wb") as said:
            tracer = subprocess.Popen(
                [str(machine.MLBCC), "serve", "--json", str(out), *options, "--", PYTHON, "-m", *command],
                cwd=self.dir, env=environment, stdin=subprocess.DEVNULL, stderr=said,
                stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            self.wait_for(tracer, f"{self.scheme}://127.0.0.1:{port}/fast")
            for path in self.paths:
                self.load(f"{self.scheme}://127.0.0.1:{port}/{path}", load)
            os.killpg(tracer.pid, signal.SIGINT)
            tracer.wait(60 * machine.SLOWNESS)
        finally:
            if tracer.poll() is None:
                os.killpg(tracer.pid, signal.SIGKILL)
                tracer.wait()
        self.said = (self.dir / "said.txt").read_text()
        self.assertTrue(out.exists() and out.stat().st_size, self.said)
        own, self.middleware = defaultdict(list), defaultdict(list)
        for line in log.read_text().splitlines():
            path, *seconds = line.split()
            own["GET " + path].append(float(seconds[-1]) * 1e9)
            self.middleware["GET " + path].append(float(seconds[0]) * 1e9)
        report = json.loads(out.read_text())
        self.assertEqual(report["lost"], 0)
        return {one["endpoint"]: one for one in report["endpoints"]}, own

    def make_data(self, port):
        """What /disk reads."""
        data = machine.BUILD / f"serve-{port}.data"
        data.write_bytes(os.urandom(DISK_READS << 22))
        self.addCleanup(data.unlink, missing_ok=True)
        return data

    def wait_for(self, tracer, url):
        end = time.monotonic() + 120 * machine.SLOWNESS
        while time.monotonic() < end and tracer.poll() is None:
            try:
                return urllib.request.urlopen(url, timeout=10, context=TRUSTING).read()
            except OSError:
                time.sleep(0.05)
        self.fail("the server does not answer:\n" + (self.dir / "said.txt").read_text())

    def load(self, url, requests):
        done = subprocess.run(["ab", "-q", "-n", str(requests), "-c", "8", url], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=200)
        self.assertRegex(done.stdout, rf"Complete requests:\s+{requests}\n", done.stdout)
        self.assertRegex(done.stdout, r"Failed requests:\s+0\n", done.stdout)

    def check_counts(self, endpoints, own, load=REQUESTS):
        """One request was that of wait_for."""
        counts = {name: one["requests"] for name, one in endpoints.items()}
        self.assertEqual(counts, {"GET /fast": load + 1, "GET /cpu": load, "GET /disk": load, "GET /lock": load})
        self.assertEqual(counts, {name: len(times) for name, times in own.items()})
        for one in endpoints.values():
            self.assertEqual(sum(one["parts_ns"].values()), one["total_time_ns"], one)
            slowest = one["slowest"]
            self.assertEqual(len(slowest), 3)
            # A quantile is right to 0.5 %.
            self.assertAlmostEqual(slowest[0]["duration_ns"], one["latency_ns"]["max"], delta=0.005 * one["latency_ns"]["max"])
            self.assertEqual(sorted((each["duration_ns"] for each in slowest), reverse=True), [each["duration_ns"] for each in slowest])
            for each in slowest:
                self.assertEqual(sum(each["parts_ns"].values()), each["duration_ns"])
                self.assertEqual(each["status"], 200)
            self.assertEqual((one["unanswered"], one["client_errors"], one["server_errors"]), (0, 0, 0))

    def check_medians(self, endpoints, own):
        for name, times in own.items():
            median, its = endpoints[name]["latency_ns"]["p50"], statistics.median_low(times)
            # Flask's own goes on until it has noted that it has sent.
            self.assertGreaterEqual(median, its - max(0.01 * its, 2e5), name)
            self.assertLessEqual(median, its + max(0.03 * its, 1e6), name)
