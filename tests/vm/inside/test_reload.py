"""Rules that are read anew while functions of the kernel and of programs are called: each call is counted
once, whichever of two probes this kernel runs first."""

import os
import signal
import sys
import time
from pathlib import Path

from harness.machine import kernel
from inside.case import VmCase
from inside.test_kernel import ways

# Calls until a line comes, and says how often.
CALLS = ("import ctypes, select, sys\n"
         "library, made = ctypes.CDLL(None), 0\n"
         "while not select.select([sys.stdin], [], [], 0.001)[0]:\n"
         "    for _ in range(10): library.getppid()\n"
         "    if made == 0: print('calls', flush=True)\n"
         "    made += 10\n"
         "print(made)\n")
CHANGES = 2


class Reload(VmCase):
    def counted_by(self, rules, way):
        """(what the sets of rules counted together, what the program made)"""
        printed = self.dir / f"printed.{way}"
        with open(printed, "w") as output:
            live = self.start(rules, "--reloadable", "--reload-wait", "1s", "--attach", way, "--",
                              sys.executable, "-c", CALLS, stdin=-1, stdout=output)
            live.wait_for('"type":"meta"', seconds=300)
            end = time.monotonic() + 300
            while "calls" not in printed.read_text() and time.monotonic() < end:
                time.sleep(0.05)
            for number in range(1, CHANGES + 1):
                time.sleep(0.5)
                os.kill(live.process.pid, signal.SIGHUP)
                live.wait_for(f'"type":"reload","number":{number},', seconds=300)
            time.sleep(0.5)
            self.assertIsNone(live.process.poll(), live.said())
            live.process.stdin.write(b"\n")
            live.process.stdin.close()
            self.assertEqual(live.wait(300), 0, live.said())
        trace = live.trace()
        ends = [*(r["before"] for r in trace.records if r["type"] == "reload"), trace.summary]
        self.missed = trace.summary.get("missed", 0)
        counts = [sum(stat["value"] for stat in end["stats"]) for end in ends]
        self.assertEqual(len(counts), CHANGES + 1)
        self.assertTrue(all(count > 0 for count in counts), counts)
        return sum(counts), int(printed.read_text().split()[-1])

    def test_functions_of_the_kernel(self):
        for way in ways():
            with self.subTest(way=way):
                counted, made = self.counted_by("on kernel:__x64_sys_getppid { count }\n", way)
                self.assertEqual(counted, made)

    def test_functions_of_a_library(self):
        for way in ("auto", "perf"):
            with self.subTest(way=way):
                counted, made = self.counted_by('on "libc.so.6":getppid { count }\n', way)
                self.assertEqual(counted, made)

    def test_system_calls(self):
        counted, made = self.counted_by("on syscall:getppid { count }\n", "perf")
        if kernel() < (7, 0):
            self.assertEqual(counted, made)
        # By perf's tracepoints, which the kernel skips while bpf(2) is preempted in a map on their CPU, and says so.
        self.assertLessEqual(counted, made)
        self.assertLessEqual(made - counted, self.missed)
