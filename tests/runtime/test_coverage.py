"""Which functions of a library were called, at the end of a trace."""

import json
import os
import subprocess
import sys

from harness import TracerCase
from harness.machine import CUDA_SIM
from test_cuda_ledger import PRELUDE

JOB = PRELUDE + """
nothing = cu.start()["nothing"]
cu.launch(nothing)
cu.launch(nothing, form="cuLaunchKernel_ptsz")
cu.cuMemFree_v2(cu.out("cuMemAlloc_v2", 4096))
assert cu.result("cuMemFree_v2", 12345) != 0
print(json.dumps(cu.books()["calls"]))
"""
LIBRARY = 'library cuda = "libcuda.so.1" variants _v2 _ptsz\n'
ENVIRONMENT = {**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM), "CUDA_SIM_QUIET": "1"}


def traced_functions():
    """Names at one address are one function."""
    text = subprocess.run(["nm", "-D", "--defined-only", CUDA_SIM / "libcuda.so.1"], check=True,
                          capture_output=True, text=True).stdout
    rows = [line.split() for line in text.splitlines()]
    return {row[0] for row in rows if row[1] == "T" and row[2].startswith("cu")
            and not row[2].startswith("cuda")}


class Coverage(TracerCase):
    def run_job(self, rule, options=()):
        """The trace, and the driver's own count of calls by symbol."""
        trace = self.trace(LIBRARY + rule, sys.executable, self.write("job.py", JOB),
                           options=options, env=ENVIRONMENT)
        return trace, json.loads(self.last.stdout)

    def expect(self, rule, **more):
        trace, calls = self.run_job(rule)
        one, = trace.summary["coverage"]
        functions = len(traced_functions())
        self.assertEqual(one, {"library": "libcuda.so.1", "functions": functions,
                               "called": sorted(calls), **more})
        line = rf"\nFUNCTIONS THAT WERE CALLED\n  libcuda\.so\.1 +{len(calls)} of {functions} traced"
        self.assertRegex(self.last.stderr, line)
        self.assertRegex(self.mlbcc("report", self.out).stdout, line)

    def test_by_spans(self):
        self.expect("on cuda:cu* except cuda* { span userspace }")

    def test_by_a_count(self):
        self.expect("on cuda:cu* except cuda* { count by symbol }")
        self.expect("on cuda:cu* except cuda* { sum duration by symbol }", ended=True)

    def test_of_few_functions_the_line_is_left_out(self):
        trace, _ = self.run_job("on entry cuda:cuInit, cuda:cuMemFree { event call }")
        self.assertEqual(trace.summary["coverage"], [
            {"library": "libcuda.so.1", "functions": 3, "called": ["cuInit", "cuMemFree_v2"]}])
        self.assertNotIn("FUNCTIONS THAT WERE CALLED", self.last.stderr)

    def test_nothing_is_said_where_a_call_may_have_left_no_trace(self):
        for rule in ("on cuda:cu* { where duration > 1s   event slow }",
                     'on cuda:cu* { count as "Calls" }', "on cuda:cu* { sample 1/10   span call }"):
            with self.subTest(rule=rule):
                trace, _ = self.run_job(rule)
                self.assertNotIn("coverage", trace.summary)
