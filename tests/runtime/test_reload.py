"""Rules that change while the trace runs: each call is taken by the rules before or those after, never by
both and never by none; what was learnt and held goes on."""

import collections
import os
import re
import signal
import sys
import time

import test_given
from harness import ROOT, TracerCase, target
from harness.lanes import quiet, thorough
from harness.machine import CUDA_SIM

RATE = 50_000  # calls a second of each of two threads
# What is open for longer has no end; on a busy machine a thread may be kept from the CPU for 50 ms in a call.
WAIT = "500ms"
# Calls until a line comes, and says how often.
GETPPID = ("import ctypes, select, sys\n"
           "call, made = ctypes.CDLL(None).getppid, 0\n"
           "while not select.select([sys.stdin], [], [], 0.001)[0]:\n"
           "    for _ in range(20): call()\n"
           "    made += 20\n"
           "print(made)\n")


class Reload(TracerCase):
    def change(self, rules):
        """As editors do: a new file takes the place of the old one."""
        other = self.write("new.rules", rules)
        os.replace(other, self.dir / "test.rules")

    def changed(self, live, number):
        live.wait_for(f'"type":"reload","number":{number},')

    def counts(self, trace):
        """Of each set of rules, the sum of all counts."""
        return [sum(stat["value"] for stat in one["stats"]) for one in [*self.before(trace), trace.summary]]

    def before(self, trace):
        return [record["before"] for record in trace.records if record["type"] == "reload"]

    def flooded(self, rules, *options, rate=RATE, wait=WAIT):
        """Starts a program that calls hit(thread, i) until ended() is called."""
        live = self.start(rules, "--watch", "--reload-wait", wait, *options, "--", "sh", "-c",
                          f"{target('flood')} 2 0 600 {rate} >made & echo $! >pid; wait")
        live.wait_for('"type":"meta"')
        return live

    def ended(self, live):
        """(the trace, how many calls the program made)"""
        os.kill(int((self.dir / "pid").read_text()), signal.SIGTERM)
        self.assertEqual(live.wait(), 0, live.said())
        return live.trace(), int((self.dir / "made").read_text())

    def hit(self, text):
        return (f'int hit(int thread, unsigned long i);\non "{target("flood")}":hit {{ {text} }}\n')

    def memory(self, live):
        status = open(f"/proc/{live.process.pid}/status").read()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1))

    @quiet
    def test_changes_at_a_hundred_thousand_calls_a_second(self):
        self.change_often(10)

    @quiet
    @thorough
    def test_a_hundred_changes_at_a_hundred_thousand_calls_a_second(self):
        memory = self.change_often(100)
        self.assertLess(memory[-1], memory[1] * 1.05, memory)

    def change_often(self, times):
        """The tracer's memory after each change, in KiB."""
        live = self.flooded(self.hit('count as "calls 0"'))
        memory = []
        for number in range(1, times + 1):
            self.change(self.hit(f'count as "calls {number}"'))
            self.changed(live, number)
            memory.append(self.memory(live))
        trace, made = self.ended(live)
        counts = self.counts(trace)
        self.assertEqual(sum(counts), made)
        self.assertEqual(len(counts), times + 1)
        self.assertTrue(all(count > 0 for count in counts), counts)
        self.assertEqual(trace.summary["reloads"], times)
        return memory

    def each_call_once(self, kind, mode):
        live = self.flooded(self.hit(f"{kind} g0(thread, i)"), "--attach", mode, rate=5000)
        for number in (1, 2, 3):
            time.sleep(0.2)
            self.change(self.hit(f"{kind} g{number}(thread, i)"))
            self.changed(live, number)
        trace, made = self.ended(live)
        seen = collections.Counter((e["args"]["thread"], e["args"]["i"]) for e in trace.events
                                   if e["phase"] in "BX")
        self.assertEqual(len(seen), made)
        self.assertEqual(set(seen.values()), {1})
        self.assertEqual({e["type"] for e in trace.events}, {"g0", "g1", "g2", "g3"})
        return trace

    def test_each_call_has_one_event(self):
        for mode in ("session", "perf"):
            with self.subTest(mode):
                self.each_call_once("event", mode)

    def test_each_call_has_both_ends(self):
        for mode in ("session", "multi"):
            with self.subTest(mode):
                trace = self.each_call_once("span", mode)
                phases = collections.Counter(e["phase"] for e in trace.events)
                self.assertEqual(phases["B"], phases["E"])

    def test_counts_are_exact(self):
        live = self.flooded(self.hit('count by thread as "calls"'))
        for number in (1, 2, 3, 4):
            self.change(self.hit(f'count by thread as "calls {number}"'))
            self.changed(live, number)
        trace, made = self.ended(live)
        self.assertEqual(sum(self.counts(trace)), made)

    def test_system_calls_by_sighup(self):
        for clause in ("count", "event call()"):
            printed = self.dir / "printed"
            with open(printed, "w") as output:
                live = self.start(f"on syscall:getppid {{ {clause} }}\n", "--reloadable", "--reload-wait",
                                  WAIT, "--", sys.executable, "-c", GETPPID, stdin=-1, stdout=output)
                live.wait_for('"type":"meta"')
                for number in (1, 2, 3):
                    time.sleep(0.3)
                    os.kill(live.process.pid, signal.SIGHUP)
                    self.changed(live, number)
                live.process.stdin.write(b"\n")
                live.process.stdin.close()
                self.assertEqual(live.wait(), 0, live.said())
            trace, made = live.trace(), int(printed.read_text())
            self.assertEqual(len(trace.events) or sum(self.counts(trace)), made)
            reload, *_ = [record for record in trace.records if record["type"] == "reload"]
            self.assertEqual(reload["why"], "SIGHUP")

    def test_a_mistake_leaves_the_rules_as_they_were(self):
        live = self.flooded(self.hit('count as "first"'))
        self.change(self.hit("count as first by nothing"))
        end = time.monotonic() + 60
        while "the rules stay as they were" not in live.said() and time.monotonic() < end:
            time.sleep(0.05)
        said = live.said()
        self.assertIn("test.rules:2", said)
        self.assertIn("error", said)
        self.change(self.hit('count as "second"'))
        self.changed(live, 1)
        trace, made = self.ended(live)
        first, second = self.counts(trace)
        self.assertGreater(min(first, second), 0)
        self.assertEqual(first + second, made)

    def test_an_imported_file_is_watched(self):
        part = self.write("part.rules", self.hit('count as "first"'))
        live = self.flooded('import "part.rules"\n')
        part.write_text(self.hit('count as "second"'))
        self.changed(live, 1)
        trace, made = self.ended(live)
        self.assertIn("part.rules changed", [r for r in trace.records if r["type"] == "reload"][0]["why"])
        self.assertEqual(sum(self.counts(trace)), made)

    def test_what_is_learnt_and_held_goes_on(self):
        rules = (f'library cuda = "libcuda.so.1" variants _v2\nheader "{ROOT}/rules/types/cuda_driver.h"\n'
                 "on cuda:cuMemAlloc { where ret == CUDA_SUCCESS   learn asked[*dptr] = bytesize\n"
                 "                     gauge bytes[*dptr] = bytesize }\n"
                 "on cuda:cuMemFree { gauge bytes[dptr] = 0  event freed(asked = asked[dptr], held = now(bytes)) }\n"
                 "on cuda:cuMemAlloc { gauge others += 1 }\n")
        go, begun = self.dir / "go", self.dir / "begun"
        program = ("import ctypes, os, time\n"
                   'cu = ctypes.CDLL("libcuda.so.1")\n'
                   "context, pointers = ctypes.c_void_p(), []\n"
                   "assert cu.cuInit(0) == 0 and cu.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0\n"
                   "def allocate(size):\n"
                   "    pointer = ctypes.c_uint64()\n"
                   "    assert cu.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_uint64(size)) == 0\n"
                   "    return pointer\n"
                   "pointers = [allocate(4096 * n) for n in range(1, 6)]\n"
                   f"open({str(begun)!r}, 'w')\n"
                   f"while not os.path.exists({str(go)!r}): time.sleep(0.01)\n"
                   "pointers.append(allocate(4096 * 6))\n"
                   "for pointer in pointers[1:4]: assert cu.cuMemFree_v2(pointer) == 0\n")
        live = self.start(rules, "--watch", "--reload-wait", WAIT, "--", sys.executable, "-c", program,
                          env={**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM), "CUDA_SIM_QUIET": "1"})
        while not begun.exists():
            self.assertIsNone(live.process.poll(), live.said())
            time.sleep(0.02)
        self.change(rules.replace("gauge others", "gauge more").replace("event freed", "event let_go"))
        self.changed(live, 1)
        go.write_text("")
        self.assertEqual(live.wait(), 0, live.said())
        trace = live.trace()
        self.assertEqual([e["args"] for e in trace.events if e["type"] == "let_go"],
                         [{"asked": 8192, "held": 4096 * 21}, {"asked": 12288, "held": 4096 * 19},
                          {"asked": 16384, "held": 4096 * 16}])
        held, = trace.gauge("bytes")
        self.assertEqual((held["value"], held["peak"]), (4096 * 12, 4096 * 21))
        self.assertEqual(held["peak_in"], "cuMemAlloc")
        self.assertEqual([g["value"] for g in trace.gauge("more")], [1])
        self.assertEqual(trace.gauge("others"), [])
        before, = self.before(trace)
        self.assertEqual([g["value"] for g in before["gauges"] if g["name"] == "others"], [5])

    def test_a_library_that_comes_after_the_change(self):
        file = self.dir / "venv/lib/liblate.so"
        rules = f'library late = "{file}"\nint late_work(int i);\non optional late:late_work {{ event %s(i) }}\n'
        live = self.start(rules % "first", "--watch", "--reload-wait", WAIT, "--", target("late"), "--wait",
                          "--from", target("liblatelib.so"), file, stdin=-1, stdout=-1)
        self.assertEqual(live.process.stdout.readline().strip(), b"ready")
        self.change(rules % "second")
        self.changed(live, 1)
        live.process.stdin.write(b"\n")
        live.process.stdin.close()
        self.assertEqual(live.wait(), 0, live.said())
        self.assertEqual([(e["type"], e["args"]["i"]) for e in live.trace().events],
                         [("second", 0), ("second", 1), ("second", 2)])

    def test_functions_given_by_address_before_the_change(self):
        go, begun = self.dir / "go", self.dir / "begun"
        wait = (f"open({str(begun)!r}, 'w')\nimport os\n"
                f"while not os.path.exists({str(go)!r}): time.sleep(0.01)\n")
        rules = (test_given.RULES % test_given.CALLS).replace("types/", f"{ROOT}/rules/types/")
        live = self.start(rules, "--watch", "--reload-wait", WAIT, "--", sys.executable, "-c",
                          test_given.PROGRAM.replace("time.sleep(0.5)\n", wait),
                          env={**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM), "CUDA_SIM_QUIET": "1",
                               "CUDA_SIM_HIDDEN": "cuMemAlloc"})
        while not begun.exists() or "traced there, too" not in live.said():
            self.assertIsNone(live.process.poll(), live.said())
            time.sleep(0.02)
        self.change(rules.replace("count by function", 'count by function as "calls"'))
        self.changed(live, 1)
        go.write_text("")
        self.assertEqual(live.wait(), 0, live.said())
        trace = live.trace()
        self.assertEqual(trace.stats("calls"), {("cuMemAlloc",): 12})
        self.assertEqual(len(trace.pairs("cuMemAlloc")), 12)
        self.assertEqual(live.said().count("traced there, too"), 2)

    def test_a_change_at_the_very_end(self):
        """The program ends while the rules change: what it did is there all the same."""
        live = self.flooded(self.hit('count as "first"'), "-v", wait="600s")
        self.change(self.hit('count as "second"'))
        end = time.monotonic() + 60
        while "the rules change" not in live.said() and time.monotonic() < end:
            time.sleep(0.05)
        trace, made = self.ended(live)
        counts = self.counts(trace)
        self.assertEqual(len(counts), 2)
        self.assertEqual(sum(counts), made)
