"""tests/runtime/test_one_cpu.py as this kernel preempts by itself, and with `preempt=full`, and the
same of functions of the kernel."""

from pathlib import Path

import test_one_cpu
from harness import target
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

    def test_functions_of_the_kernel(self):
        def check(trace):
            pairs = trace.pairs("vfs_read")
            missing = 4 * self.ROUNDS - len(pairs)
            if kernel() >= (6, 14) or missing == 0:
                self.check_reads(trace, "vfs_read")
                self.assertEqual(trace.stats("bytes"), {(): self.ROUNDS * (4 * 4096 + 1 + 2 + 3 + 4)})
            # Before, the kernel follows two calls of a function for each CPU, or ten, and says what it missed.
            self.assertLessEqual(missing, trace.summary.get("missed", 0))
            self.assertEqual([e["ret"] - b["args"]["count"] for b, e in pairs], [0] * len(pairs))
        self.check_all(check, IN_THE_KERNEL)


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
