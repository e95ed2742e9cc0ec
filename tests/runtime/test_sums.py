"""What counts, sums and histograms gain while the trace runs (`every`): it adds up to the summary, exactly."""

import collections
import json
import os
import signal
import sys
from pathlib import Path

from harness import TracerCase

# Calls for a while, in bursts, then says how often.
BURSTS = """
import ctypes, time
call = ctypes.CDLL(None).getppid
made = 0
for _ in range(12):
    for _ in range(500): call()
    made += 500
    time.sleep(0.03)
print(made)
"""
# Calls until a file is there, and writes how often.
UNTIL_TOLD = """
import ctypes, os, time
call = ctypes.CDLL(None).getppid
made = 0
while not os.path.exists("stop"):
    for _ in range(100): call()
    made += 100
    time.sleep(0.002)
with open("made", "w") as out: out.write(str(made))
"""
KINDS = """
on syscall:getppid {
    count every 50ms
    count by tid, comm as "by thread" every 50ms
    sum duration by function as "time" every 100ms
    hist duration as "distribution" every 50ms
    sum duration over duration as "kept by the tracer" every 50ms
    count as "not looked at"
}
"""


def text(one):
    return json.dumps(one, sort_keys=True, default=str)


class Sums(TracerCase):
    def sums(self, trace):
        return [r for r in trace.records if r["type"] == "sums" and "phase" not in r]

    def added(self, sums):
        """What all looks gained, and the same of the buckets of histograms."""
        totals = collections.Counter()
        for line in sums:
            self.assertTrue(line["stats"] or line["hists"], "a line that says nothing")
            self.assertLess(line["since"], line["ts"])
            for stat in line["stats"]:
                key = text([stat["rule"], stat["kind"], stat["label"], stat["by"]])
                totals[key + " value"] += stat["value"]
                totals[key + " calls"] += stat.get("calls", 0)
                totals[key + " over"] += stat.get("over_ns", 0)
            for hist in line["hists"]:
                self.add_hist(totals, hist)
        return +totals

    def add_hist(self, totals, hist):
        key = text([hist["rule"], hist["label"], hist["by"]])
        for name in ("count", "sum"):
            totals[f"{key} {name}"] += hist[name]
        for low, high, count in hist["buckets"]:
            totals[f"{key} {low} {high}"] += count

    def whole(self, summary):
        stats = [s for s in summary["stats"] if s["label"] != "not looked at"]
        totals = collections.Counter()
        for stat in stats:
            key = text([stat["rule"], stat["kind"], stat["label"], stat["by"]])
            totals[key + " value"] += stat["value"]
            totals[key + " calls"] += stat.get("calls", 0)
            totals[key + " over"] += stat.get("over_ns", 0)
        for hist in summary["hists"]:
            self.add_hist(totals, hist)
        return +totals

    def test_they_add_up_to_the_summary(self):
        trace = self.trace(KINDS, sys.executable, "-c", BURSTS)
        made = int(self.last.stdout)
        sums = self.sums(trace)
        self.assertEqual(self.added(sums), self.whole(trace.summary))
        count, = (s["value"] for s in trace.summary["stats"] if s["label"] == "not looked at")
        self.assertEqual(count, made)
        self.assertEqual(sum(s["value"] for line in sums for s in line["stats"] if s["label"] == "count"), made)
        self.assertGreaterEqual(len({line["ts"] for line in sums}), 4)
        self.assertEqual({line["every_us"] for line in sums}, {50_000, 100_000})
        self.assertNotIn("not looked at", {s["label"] for line in sums for s in line["stats"]})
        # One look ends where the next begins; none is sooner than it is wanted, but for the last.
        for every in (50_000, 100_000):
            own = [line for line in sums if line["every_us"] == every]
            for one, following in zip(own, own[1:]):
                self.assertGreaterEqual(following["since"], one["ts"])
            for line in own[:-1]:
                self.assertGreater(line["ts"] - line["since"], every / 2e6)

    def test_what_does_not_change_is_not_told(self):
        trace = self.trace("on syscall:getppid { count every 20ms }", "sleep", "0.3")
        self.assertEqual(self.sums(trace), [])

    def child(self, tracer):
        """The command's process."""
        for task in os.listdir(f"/proc/{tracer}/task"):
            for pid in Path(f"/proc/{tracer}/task/{task}/children").read_text().split():
                if Path(f"/proc/{pid}/comm").read_text().startswith("python"):
                    return int(pid)
        self.fail("the command does not run")

    def test_of_a_program_that_is_killed(self):
        live = self.start(KINDS, "--", sys.executable, "-c", UNTIL_TOLD)
        live.wait_for('"type":"sums"')
        os.kill(self.child(live.process.pid), signal.SIGKILL)
        live.wait()
        trace = live.trace()
        self.assertEqual(self.added(self.sums(trace)), self.whole(trace.summary))

    def test_rules_that_change(self):
        live = self.start(KINDS, "--watch", "--", sys.executable, "-c", UNTIL_TOLD)
        live.wait_for('"type":"sums"')
        os.replace(self.write("new.rules", KINDS.replace("getppid {", "getppid { # changed")), self.dir / "test.rules")
        live.wait_for('"type":"reload"')
        self.write("stop", "")
        self.assertEqual(live.wait(), 0, live.said())
        trace = live.trace()
        at, = (i for i, r in enumerate(trace.records) if r["type"] == "reload")
        before = [r for r in trace.records[:at] if r["type"] == "sums"]
        after = [r for r in trace.records[at:] if r["type"] == "sums"]
        self.assertEqual(self.added(before), self.whole(trace.records[at]["before"]))
        self.assertEqual(self.added(after), self.whole(trace.summary))
        counts = [s["value"] for line in before + after for s in line["stats"] if s["label"] == "count"]
        self.assertEqual(sum(counts), int((self.dir / "made").read_text()))

    def test_what_is_too_often(self):
        said = self.refused("on syscall:getppid { count every 5ms }")
        self.assertIn("error: `5ms` is too short for `every`", said)
        self.assertIn("test.rules:1:34", said)
        self.assertIn("take `10ms` or more", said)
