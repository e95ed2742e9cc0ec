"""A program that was not written for us: Debian's numba on the simulated driver, against its own log
of driver calls and against the driver's books."""

import collections
import json
import os
import re
import subprocess

from harness import ROOT, Trace, TracerCase
from harness.machine import CUDA_SIM

PYTHON = "/usr/bin/python3"  # Debian's, which has numba
BYTES = 4 * 1000             # of one array
# Two names of the simulated driver are one function; a trace has the first, whichever was called.
ONE_FUNCTION = {"cuEventDestroy": "cuEventDestroy_v2", "cuMemHostRegister": "cuMemHostRegister_v2"}


class Numba(TracerCase):
    def setUp(self):
        super().setUp()
        if subprocess.run([PYTHON, "-c", "import numba.cuda"], capture_output=True).returncode:
            self.skipTest("numba is not installed (scripts/setup.sh --tests)")
        self.books = self.dir / "books.json"
        environment = {**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM), "CUDA_SIM_QUIET": "1",
                       "CUDA_SIM_BOOKS": str(self.books), "NUMBA_CUDA_LOG_LEVEL": "DEBUG",
                       "NUMBA_CUDA_DRIVER": str(CUDA_SIM / "libcuda.so.1")}
        done = self.mlbcc("--rules", "cuda_all", "-o", self.out, "--", PYTHON,
                          ROOT / "tests/runtime/targets/numba_calls.py", env=environment)
        self.assertEqual((done.returncode, done.stdout), (0, "True True\n"), done.stderr)
        self.read = Trace(self.out)

    def calls(self):
        return [event for event in self.read.events
                if event["phase"] == "B" and event["type"] == "userspace"]

    def symbols(self):
        found = [call.get("symbol", call["name"]) for call in self.calls()]
        return [ONE_FUNCTION.get(symbol, symbol) for symbol in found]

    def test_each_call_of_numbas_log_in_its_order(self):
        logged = re.findall(r"call driver api: (cu\w+)", self.last.stderr)
        self.assertGreater(len(logged), 60)
        self.assertEqual(self.symbols(), logged)

    def test_as_many_of_each_as_the_driver_counted(self):
        books = json.loads(self.books.read_text())
        self.assertEqual(collections.Counter(self.symbols()), books["calls"])
        self.assertEqual(books["failures"], {})

    def test_what_it_did(self):
        books = json.loads(self.books.read_text())
        launches = [call["args"] for call in self.calls() if call["name"] == "cuLaunchKernel"]
        self.assertEqual([(l["kernel"], l["blocks"], l["threads"]) for l in launches],
                         [("vector_add", 4, 256)] * 3)
        self.assertEqual(books["kernels"], {"vector_add": 3})
        sizes = [call["args"]["bytesize"] for call in self.calls() if call["name"] == "cuMemAlloc"]
        self.assertEqual(sizes, [BYTES] * 3)
        self.assertEqual(books["device"]["bytes"], 3 * BYTES)
        self.assertEqual(books["device"]["frees"], 3)
        gauge, = self.read.gauge("gpu_bytes")
        self.assertEqual((gauge["value"], gauge["peak"], gauge["held"]), (0, 3 * BYTES, []))
        python = [frame for frame in gauge["peak_stack"] if ".py:" in frame]
        self.assertEqual((python[0], python[-2:]), ("driver.py:safe_cuda_api_call", ["numba_calls.py:main", "numba_calls.py:<module>"]))
        copies = books["bytes_copied"]
        self.assertEqual(copies, {"host_to_device": 2 * BYTES, "device_to_host": BYTES,
                                  "device_to_device": BYTES})
        self.assertEqual(self.read.stats("Copied to the device"), {("pageable",): BYTES})
        self.assertEqual(self.read.stats("Copied to the device in stream order"),
                         {("pinned",): BYTES})
        self.assertEqual(self.read.stats("Copied to the host in stream order"),
                         {("pageable",): BYTES})
        self.assertEqual(self.read.stats("Copied between devices and within"), {(): BYTES})
        self.assertEqual(self.read.stats("Kernels run"), {("vector_add",): 3})
        self.assertEqual(self.read.summary["lost"], 0)
