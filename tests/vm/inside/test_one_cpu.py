"""tests/runtime/test_one_cpu.py as this kernel preempts by itself, and with `preempt=full`, and the
same of functions of the kernel."""

from pathlib import Path

import test_one_cpu
from harness.machine import kernel
from inside.case import VmCase

PREEMPT = Path("/sys/kernel/debug/sched/preempt")  # none (voluntary) full
IN_THE_KERNEL = """
on kernel:vfs_read {{ where count > 4096 && count <= 4100  span read(count)  stack user
    sum (long)count as "bytes" }}
"""


def ways():
    """To attach, the best one first."""
    return ("auto",) if kernel() < (6, 6) else ("auto", "multi", "perf")


class OneCpu(test_one_cpu.OneCpu, VmCase):
    ROUNDS = 400
    WAYS = ways()

    def check_reads_but_for_missed(self, trace, name):
        """All of them, or the kernel says how many it missed."""
        pairs = trace.pairs(name)
        missing = 4 * self.ROUNDS - len(pairs)
        if missing == 0:
            self.check_reads(trace, name)
        self.assertLessEqual(missing, trace.summary.get("missed", 0))
        self.assertEqual([e["ret"] - b["args"]["count"] for b, e in pairs], [0] * len(pairs))
        return missing

    def test_functions_of_the_kernel(self):
        """Before 6.14 it follows two open calls of a function for each CPU, or ten."""
        def check(trace):
            if self.check_reads_but_for_missed(trace, "vfs_read") == 0:
                self.assertEqual(trace.stats("bytes"), {(): self.ROUNDS * (4 * 4096 + 1 + 2 + 3 + 4)})
        self.check_all(check, IN_THE_KERNEL)

    def test_system_calls(self):
        """By perf's tracepoints, which are skipped while bpf(2) is preempted on their CPU."""
        if kernel() < (7, 0):
            return super().test_system_calls()
        def check(trace):
            self.check_reads_but_for_missed(trace, "pread64")
            self.assertEqual(trace.stats("first"), {(): self.ROUNDS * 4})
        return self.check_all(check, test_one_cpu.CALLS)


class EverywherePreempted(OneCpu):
    WAYS = ways()[:1]

    def setUp(self):
        super().setUp()
        text = PREEMPT.read_text()
        if "full" not in text:
            self.skipTest(f"this kernel preempts in one way only: {text.strip()}")
        before = text[text.index("(") + 1:text.index(")")]
        PREEMPT.write_text("full")
        self.addCleanup(PREEMPT.write_text, before)
