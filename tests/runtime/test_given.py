"""Functions that programs get by address: cuGetProcAddress of the simulated driver, which gives out
one that no export begins with (CUDA_SIM_HIDDEN)."""

import json
import os
import sys

from harness import ROOT, TracerCase
from harness.machine import CUDA_SIM

# Asks for functions, waits a while, and calls one by the address and by its export.
PROGRAM = """
import ctypes, sys, time
cu = ctypes.CDLL("libcuda.so.1")
u64, address, status = ctypes.c_uint64, ctypes.c_void_p(), ctypes.c_int()
context, pointer = ctypes.c_void_p(), ctypes.c_uint64()
assert cu.cuInit(0) == 0 and cu.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0
found = {}
for name in (b"cuMemAlloc", b"cuMemFree", b"cuNoSuchFunction", b"cuStreamCreate", b"cuMemAlloc"):
    assert cu.cuGetProcAddress_v2(name, ctypes.byref(address), 12000, u64(0), ctypes.byref(status)) == 0
    found[name] = address.value
time.sleep(0.5)
by_address = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, u64)(found[b"cuMemAlloc"])
for size in range(1, 6):
    assert by_address(ctypes.byref(pointer), size * 4096) == 0
for size in range(1, 8):
    assert cu.cuMemAlloc_v2(ctypes.byref(pointer), u64(size * 1000)) == 0
"""
RULES = """
    library cuda = "libcuda.so.1" variants _v2 _v3
    header "types/cuda_driver.h"
    on cuda:cuMemFree { count }
    on %s }
    on cuda:cuGetProcAddress { where ret == CUDA_SUCCESS   trace *pfn as symbol }
"""
CALLS = "cuda:cuMemAlloc { span user(bytesize)   count by function"
BEGINNINGS = "entry cuda:cuMemAlloc { event begins(bytesize)"
NOTE = "an address for cuMemAlloc where no function of libcuda.so.1 begins"


class Given(TracerCase):
    def given(self, hidden, *options, rule=CALLS):
        environment = {**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM), "CUDA_SIM_QUIET": "1",
                       "CUDA_SIM_HIDDEN": hidden}
        rules = (RULES % rule).replace("types/", f"{ROOT}/rules/types/")
        trace = self.trace(rules, sys.executable, "-c", PROGRAM, options=options, env=environment)
        addresses, = trace.summary["addresses"]
        return trace, addresses

    def sizes(self, trace):
        return [event["args"]["bytesize"] for event in trace.events
                if event["phase"] in "Bi" and event["name"] == "cuMemAlloc"]

    def count(self, trace):
        group, = [group for group in trace.summary["stats"] if group["by"] == {"function": "cuMemAlloc"}]
        return group["value"]

    def test_exported_functions_are_where_the_probes_are(self):
        trace, addresses = self.given("")
        self.assertEqual(addresses, {"library": "libcuda.so.1", "answers": 4, "elsewhere": []})
        self.assertEqual(self.count(trace), 12)
        self.assertNotIn("an address for", self.last.stderr)
        self.assertRegex(self.last.stderr, r"ADDRESSES GIVEN TO PROGRAMS\n +libcuda.so.1 +4, where its functions begin\n")

    def test_another_place_is_probed_at_once(self):
        """The exported function jumps there: its calls count once."""
        trace, addresses = self.given("cuMemAlloc")
        self.assertEqual(addresses, {"library": "libcuda.so.1", "answers": 4, "elsewhere": ["cuMemAlloc"]})
        self.assertEqual(self.sizes(trace), [size * 4096 for size in range(1, 6)] + [size * 1000 for size in range(1, 8)])
        self.assertEqual(self.count(trace), 12)
        self.assertRegex(self.last.stderr, r"gave process \d+ " + NOTE + ": traced there, too, from now on\n")
        shown = self.last.stderr
        summary = shown[shown.index("=== TRACE"):shown.index("mlbcc: trace written")]
        self.assertIn("4, and elsewhere for cuMemAlloc, traced since", summary)
        self.assertEqual(self.mlbcc("report", self.out).stdout, summary)

    def test_where_it_cannot_be_told_whose_call_it_is(self):
        """Without sessions, and where nothing waits for the function's return."""
        for options, rule, why in ((("--attach", "multi"), CALLS, "this kernel has no uprobe session links"),
                                   (("--attach", "perf"), CALLS, "this kernel has no uprobe session links"),
                                   ((), BEGINNINGS, "`on entry` rules would count twice")):
            with self.subTest(options=options, rule=rule):
                trace, addresses = self.given("cuMemAlloc", *options, rule=rule)
                self.assertEqual((addresses["elsewhere"], addresses["untraced"]), ([], ["cuMemAlloc"]))
                self.assertEqual(self.sizes(trace), [size * 1000 for size in range(1, 8)])
                self.assertIn(f"{NOTE}, and is not traced there: {why}", self.last.stderr)

    def test_the_shipped_rules_ask(self):
        environment = {**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM), "CUDA_SIM_QUIET": "1",
                       "CUDA_SIM_HIDDEN": "cuMemAlloc"}
        done = self.mlbcc("--rules", "cuda", "-o", self.out, "--", sys.executable, "-c", PROGRAM, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(self.out.read_text().splitlines()[-1])
        self.assertEqual(summary["addresses"][0]["elsewhere"], ["cuMemAlloc"])
        memory = sum(one["value"] for one in summary["stats"] if one["label"] == "Total memory allocated")
        self.assertEqual(memory, sum(size * 4096 for size in range(1, 6)) + sum(size * 1000 for size in range(1, 8)))
