"""What a full buffer leaves out: stacks first, then records; and which numbers that touches."""

import os
import signal
import subprocess
import time
from pathlib import Path

from harness import TracerCase
from harness.machine import MLBCC
from harness.trace import Trace

LIBRARY = """
library c = "libc.so.6"
void *malloc(size_t size);
void free(void *block);
int getppid();
"""
# Does its work when it is told to, and ends when it is told to.
WORK = """
import ctypes, sys
c = ctypes.CDLL(None)
c.malloc.restype, c.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
sys.stdin.readline()
{work}
print("done", flush=True)
sys.stdin.readline()
"""
# Each of 600 blocks is given back but for the last 10, of 5000 bytes each. It does so deep down its stack: close to the
# upper end there may be a page that was never touched, and what is copied of the stack is half as long.
BLOCKS = """
def give_back(depth):
    if depth > 0:
        return list(map(give_back, [depth - 1]))
    for i in range(600):
        block = c.malloc(5000 if i >= 590 else 4000)
        if i < 590:
            c.free(block)
give_back(60)
"""


class Losses(TracerCase):
    def while_the_tracer_sleeps(self, rules, work, buffer):
        """Nobody reads the buffers while the program works, on one CPU: each has a buffer."""
        # Its stack ends behind its environment: with a large one all copies of it are of one size.
        program = subprocess.Popen(["/usr/bin/python3", "-c", WORK.format(work=work)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, "MLBCC_TEST_PADDING": "x" * 8192})
        os.sched_setaffinity(program.pid, {min(os.sched_getaffinity(0))})
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        self.addCleanup(program.stdout.close)
        live = subprocess.Popen([MLBCC, "--rules", self.rules(LIBRARY + rules), "-o", self.out, "--buffer", buffer, "--pid", str(program.pid)],
                                cwd=self.dir, stderr=subprocess.PIPE, text=True)
        self.addCleanup(live.kill)
        self.assertIn("tracing", live.stderr.readline())
        time.sleep(0.1)
        os.kill(live.pid, signal.SIGSTOP)
        while "T (stopped)" not in Path(f"/proc/{live.pid}/status").read_text():
            time.sleep(0.01)
        program.stdin.write("\n")
        program.stdin.flush()
        self.assertEqual(program.stdout.readline(), "done\n")
        os.kill(live.pid, signal.SIGCONT)
        program.stdin.write("\n")
        program.stdin.close()
        self.said = live.communicate()[1]
        return Trace(self.out)

    def test_stacks_are_left_out_before_records(self):
        """There is room for some 180 of 600 stacks, and for all records, Python's own calls of free() among them."""
        trace = self.while_the_tracer_sleeps("""
            on c:malloc     { where size == 4000 || size == 5000   gauge held[ret] = size   stack user }
            on entry c:free { gauge held[block] = 0 }
            """, BLOCKS, "1MiB")
        self.assertEqual(trace.loss("lost"), 0)
        held, = trace.summary["gauges"]
        self.assertEqual((held["value"], len(held["held"])), (50_000, 10))
        self.assertNotIn("lost", held)
        malloc = trace.summary["losses"][0]
        self.assertEqual(malloc["received"], 600)
        self.assertGreater(malloc["without_stack"], 400)
        self.assertLess(malloc["without_stack"], 590)
        note = f"{malloc['without_stack']} of 600 without a stack, because the buffer was full"
        self.assertIn(note, self.said)
        self.assertIn(note, self.mlbcc("report", self.out).stdout)

    def test_more_groups_than_there_is_room_for(self):
        trace = self.trace("on syscall:lseek { count by offset as \"by kernel\" }\n"
                           "on syscall:lseek { learn seen[offset] = fd }\n"
                           "on syscall:lseek { count by offset, seen[offset] as \"by tracer\" }",
                           "/usr/bin/python3", "-c", "import os\n"
                           "fd = os.open('/dev/zero', os.O_RDONLY)\n"
                           "for i in range(10500): os.lseek(fd, 7 * i, os.SEEK_SET)")
        counted = trace.stats("by kernel")
        losses = {loss["rule"].split(":")[-1]: loss for loss in trace.summary["losses"]}
        self.assertEqual(len(counted), 10240)
        self.assertEqual(sum(counted.values()) + losses["1"]["no_group"], 10500 + self.other_seeks(counted))
        self.assertEqual((losses["1"]["lost"], losses["2"]["lost"]), (0, 0))
        self.assertRegex(self.last.stderr, r"test.rules:1: \d+ calls not counted, because the table of groups was full: a count, sum or hist has 10 240 at most")
        more = f"; {losses['1']['no_group']} more calls had no group\n"
        self.assertRegex(self.last.stderr, r"\n  by kernel +[\d ]+" + more)
        self.assertRegex(self.last.stderr, r"\n  \d+ calls not counted, because the table of groups was full: a count")
        self.assertIn(more, self.mlbcc("report", self.out).stdout)

    def other_seeks(self, counted):
        """Those of Python's own start, to places that the loop comes to as well, or to others."""
        return sum(calls - (offset in range(0, 7 * 10500, 7)) for (offset,), calls in counted.items())

    def test_a_number_says_whether_a_loss_touches_it(self):
        """What the kernel counts is right, what records are for is not."""
        trace = self.while_the_tracer_sleeps("""
            on c:getppid { count as "counted"  hist duration as "timed" }
            on c:getppid { where ret > 0   gauge calls += 1 }
            on c:getppid { largest 3 by duration as "Long ones" (ret) }
            on interval:100ms { gauge memory = resident }
            """, "for i in range(200000): c.getppid()", "256KiB")
        self.assertEqual(trace.stats("counted"), {(): 200000})
        timed, = trace.summary["hists"]
        self.assertEqual(timed["count"], 200000)
        calls, = [one for one in trace.summary["gauges"] if one["name"] == "calls"]
        memory, = [one for one in trace.summary["gauges"] if one["name"] == "memory"]
        longest, = trace.summary["largest"]
        for one, touched in ((calls, True), (longest, True), (memory, False), (timed, False), (trace.summary["stats"][0], False)):
            self.assertEqual("lost" in one, touched, one)
        for one, seen in ((calls, calls["value"]), (longest, longest["calls"])):
            self.assertEqual((one["submitted"], one["submitted"] - one["lost"]), (200000, seen))
        for text in (self.said, self.mlbcc("report", self.out).stdout):
            lines = [line for line in text.splitlines() if "% of its records were lost" in line]
            self.assertEqual(sorted(line.split()[0] for line in lines), ["Long", "calls"], text)
