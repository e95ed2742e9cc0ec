"""The largest of something, stacks that are learnt, and what threads do between kernel launches."""

import json
import os

from harness import ROOT, TracerCase, target
from harness.machine import CUDA_SIM

MS = 1_000_000


class Largest(TracerCase):
    def list_of(self, trace, title):
        one, = [one for one in trace.summary["largest"] if one["label"] == title]
        return one

    def test_the_largest_in_order(self):
        """dd writes blocks of known sizes."""
        trace = self.trace(
            'on syscall:write { where comm == "dd" && fd == 1\n'
            '    largest 3 by count as "Writes" (ret, fd)  largest 9 by size = count * 1KiB as "All" }',
            "sh", "-c", "for size in 5 9 7 9 3; do dd if=/dev/zero of=/dev/null bs=$size count=1 2>/dev/null; done")
        few, all_ = self.list_of(trace, "Writes"), self.list_of(trace, "All")
        self.assertEqual([(one["value"], one["args"]) for one in few["entries"]],
                         [(size, {"ret": size, "fd": 1}) for size in (9, 9, 7)])
        self.assertLess(few["entries"][0]["ts"], few["entries"][1]["ts"], "of equal ones the first")
        self.assertEqual((few["calls"], few["by"], few["unit"], few["units"]), (5, "count", "bytes", {}))
        self.assertEqual([one["value"] for one in all_["entries"]], [1024 * size for size in (9, 9, 7, 5, 3)])
        self.assertEqual({one["comm"] for one in all_["entries"]}, {"dd"})
        self.assertEqual(len({one["pid"] for one in all_["entries"]}), 5)
        self.assertRegex(self.last.stderr, r"Writes +5\n +count +ret +fd +at +thread\n +9 B +9 +1 +\d+\.\d{3} s +dd \d+\n")
        shown = self.last.stderr
        self.assertEqual(self.mlbcc("report", self.out).stdout, shown[:shown.index("mlbcc: trace written")])

    def test_a_stack_that_was_learnt(self):
        trace = self.trace("""
            on sched:off_cpu {
                where duration > 15ms && comm == "sleeper"
                learn slept[tid] = stack
                learn times[tid] += 1
                stack user
            }
            on entry syscall:exit {
                where comm == "sleeper" && slept[tid] != ""
                event left(slept = slept[tid], times = times[tid] + 0)
                largest 1 by times[tid] as "Sleepers" (slept = slept[tid], never = slept[0])
            }
            on entry syscall:exit { where comm == "locker" && slept[tid] == ""  event awake(slept = slept[tid] != "") }
            """, target("waits"))
        left, = [event for event in trace.events if event["type"] == "left"]
        awake, = [event for event in trace.events if event["type"] == "awake"]
        self.assertGreaterEqual(left["args"]["times"], 5)
        self.assertTrue(any(frame.startswith("waits:pause_ms") for frame in left["args"]["slept"]), left)
        self.assertEqual(awake["args"], {"slept": False})
        one, = self.list_of(trace, "Sleepers")["entries"]
        self.assertEqual(one["args"]["slept"], left["args"]["slept"])
        self.assertRegex(self.last.stderr, r"\n +slept: .*waits:pause_ms <\s+waits:sleeper")

    def test_of_looks_at_processes(self):
        trace = self.trace('on interval:10ms { largest 2 by resident as "Most memory" (threads, elapsed) }', "sleep", "0.2")
        list_ = self.list_of(trace, "Most memory")
        self.assertEqual((list_["unit"], list_["units"], len(list_["entries"])), ("bytes", {"elapsed": "ns"}, 2))
        self.assertGreaterEqual(list_["calls"], 5)
        self.assertEqual({one["args"]["threads"] for one in list_["entries"]}, {1})
        self.assertGreater(list_["entries"][1]["value"], 100_000)

    def test_explain_says_who_keeps_them(self):
        rules = self.rules('on syscall:write { largest 3 by count as "Writes" }')
        self.assertIn("  tracer  Writes: the 3 largest by count, from the record\n",
                      self.mlbcc("explain", "--rules", rules).stdout)


class Idle(TracerCase):
    """targets/idle.c on the simulated driver, by its own clock."""

    ENVIRONMENT = {**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM), "CUDA_SIM_QUIET": "1"}
    PARTS = ("on_cpu", "off_cpu", "io", "to_run")

    def idle(self, *rules, options=()):
        """The trace, what the program said in nanoseconds, and the gaps' entries with their parts added up."""
        more = [word for name in rules[1:] for word in ("--rules", ROOT / "rules" / f"{name}.rules")]
        printed = self.dir / "printed"
        with open(printed, "w") as file:
            trace = self.trace(ROOT / "rules" / f"{rules[0]}.rules", target("idle"), CUDA_SIM / "libcuda.so.1",
                               options=(*more, *options), env=self.ENVIRONMENT, stdout=file)
        self.assertEqual(trace.summary["lost"], 0)
        list_, = [one for one in trace.summary["largest"] if one["label"] == "Longest gaps between launches"]
        for one in list_["entries"]:
            self.assertEqual(sum(one["args"][part] for part in self.PARTS), one["value"], one)
            self.assertTrue(all(one["args"][part] >= 0 for part in self.PARTS), one)
        return trace, json.loads(printed.read_text()), list_

    def check_gaps(self, said, list_):
        """Each gap has the part that it was made of, with 80 % at least of the time that the thread was given a CPU."""
        entries = list_["entries"]
        self.assertEqual((list_["calls"], len(entries)), (5, 5))
        values = [one["value"] for one in entries]
        self.assertEqual(values, sorted(values, reverse=True))
        made = {"sleep": ("off_cpu", "idle:sleep_for_30_ms"), "compute": ("on_cpu", None), "read": ("io", None),
                "lock": ("off_cpu", "idle:wait_for_the_lock"), "nothing": ("on_cpu", None)}
        for (name, (part, function)), one in zip(made.items(), sorted(entries, key=lambda one: one["ts"])):
            with self.subTest(gap=name, said=said[name], entry=one):
                self.assertGreaterEqual(one["value"], said[name])
                self.assertEqual(one["args"]["until"], "nothing")
                if name == "nothing":
                    continue
                self.assertGreaterEqual(one["args"][part], 0.8 * (one["value"] - one["args"]["to_run"]))
                if function is not None:
                    self.assertTrue(any(function in frame for frame in one["args"]["off_in"]))

    def test_each_gap_has_its_part(self):
        trace, said, list_ = self.idle("cuda_idle")
        self.check_gaps(said, list_)
        sums = {label: trace.stats(f"Between launches, {label}")[()]
                for label in ("on the CPU", "off the CPU", "input and output", "waiting to run")}
        hist, = trace.hist("Time between launches of a thread")
        self.assertEqual(sum(sums.values()), hist["sum"])
        self.assertEqual(sum(one["value"] for one in list_["entries"]), hist["sum"])
        self.assertIn("Longest gaps between launches", self.last.stderr)
        self.assertRegex(self.last.stderr, r"(?s)\n +off_in: .*idle:pause_ms <\s+idle:sleep_for_30_ms <\s+idle:gap")

    def test_beside_all_rules_of_the_driver(self):
        _, said, list_ = self.idle("cuda", "cuda_idle", "offcpu")
        self.check_gaps(said, list_)

    def test_the_rules_of_the_driver_leave_the_scheduler_alone(self):
        done = self.mlbcc("list", "--rules", ROOT / "rules" / "cuda.rules", env=self.ENVIRONMENT)
        self.assertNotIn("sched", done.stdout)
        self.assertIn("cuLaunchKernel", done.stdout)
