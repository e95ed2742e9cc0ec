"""System calls that a filter (seccomp) answers: the kernel tells their ends alone, and every clause sees them."""

import collections
import csv
import json
import re
import subprocess

from harness import TracerCase, target
from harness.machine import need_tool

RULES = """
on syscall:mkdirat {
    span called(pathname)
    event made(ret, pathname, took = duration)
    count by ret as "Made"
    hist duration as "Took"
    largest 20 by ret as "Results" (pathname)
}
on entry syscall:mkdirat { event entered(pathname, mode)   count as "Entered" }
on syscall:unlinkat, syscall:linkat { event other(ret)   where ret < 0 }
on syscall:getppid { count as "Not answered" }
"""


class Filtered(TracerCase):
    def names(self, trace, type_):
        return collections.Counter(event["args"]["pathname"] for event in trace.events if event["type"] == type_)

    def value(self, trace, label):
        return sum(one["value"] for one in trace.summary["stats"] if one["label"] == label)

    def test_every_clause_sees_them(self):
        expected = {"before": 1, "answered": 5, "in-child": 5}
        trace = self.trace(RULES, target("filtered"))
        for type_ in ("made", "entered"):
            self.assertEqual(self.names(trace, type_), expected, type_)
        spans = [event for event in trace.events if event["type"] == "called"]
        self.assertEqual(collections.Counter(event["phase"] for event in spans), {"B": 11, "E": 11})
        self.assertEqual((self.value(trace, "Made"), self.value(trace, "Entered"), self.value(trace, "Not answered")), (11, 11, 10))
        made = {event["args"]["pathname"]: event for event in trace.events if event["type"] == "made"}
        self.assertEqual((made["answered"]["args"]["ret"], made["answered"]["ret"]), ("-EPERM", "-EPERM"))
        largest, = trace.summary["largest"]
        self.assertEqual(sorted(one["value"] for one in largest["entries"]), [-1] * 10 + [0])

    def test_how_long_they_took_is_not_known(self):
        trace = self.trace(RULES, target("filtered"))
        for event in trace.events:
            if event["type"] in ("made", "called") and event["phase"] in "XE":
                is_known = event["args"]["pathname"] == "before" if event["type"] == "made" else event["ret"] == 0
                self.assertEqual(event["duration_us"] is not None, is_known, event)
            if event["type"] == "made":
                self.assertEqual(event["args"]["took"] is not None, event["args"]["pathname"] == "before", event)
        took, = trace.summary["hists"]
        self.assertEqual(took["count"], 1)
        self.assertGreater(took["min"], 0)
        self.mlbcc("convert", "--to", "csv", "-o", "calls.csv", self.out)
        with open(self.dir / "calls.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        cells = collections.Counter((row["duration_us"] != "", row["incomplete"]) for row in rows if row["kind"] == "call" and row["name"] == "mkdirat")
        self.assertEqual(cells, {(True, ""): 1, (False, "begin"): 10})

    def test_where_a_signal_comes_in_the_place_of_the_call(self):
        """The number of the call, which the kernel leaves for the result, is none."""
        trace = self.trace(RULES, target("filtered"))
        other = [(event["function"], event["args"]["ret"]) for event in trace.events if event["type"] == "other"]
        self.assertEqual(other, [("unlinkat", "-ERESTARTSYS")] * 3 + [("linkat", "-ERESTARTSYS")])

    def test_as_many_as_strace_has(self):
        for way in "calls", "threads", "exec":
            subprocess.run([need_tool("strace"), "-f", "-e", "trace=mkdirat", "-o", "strace.txt", target("filtered"), way],
                                  cwd=self.dir, check=True)
            theirs = len(re.findall(r"^\d+ +mkdirat\(", (self.dir / "strace.txt").read_text(), re.M))
            trace = self.trace(RULES, target("filtered"), way)
            self.assertEqual(sum(self.names(trace, "made").values()), theirs, way)
            self.assertEqual(self.value(trace, "Made"), theirs, way)

    def test_a_process_whose_number_ends_as_another_s(self):
        """Threads have places by their last bits: one whose place is taken is seen as well."""
        for rules in RULES, RULES + "on syscall:getppid, syscall:mkdirat, syscall:wait4 { sum duration by pid }":
            trace = self.trace(rules, target("filtered"), "neighbour")
            for type_ in ("made", "entered"):
                self.assertEqual(self.names(trace, type_), {"in-neighbour": 5, "in-main": 5}, type_)
            self.assertEqual((self.value(trace, "Made"), self.value(trace, "Not answered")), (10, 10))
        done = self.mlbcc("profile", "-q", "--no-progress", "-o", self.out, "--json", "p.json", "--", target("filtered"), "neighbour")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.calls_of("mkdirat"), (10, 10))

    def test_a_rule_that_asks_for_the_beginning_alone(self):
        trace = self.trace("on entry syscall:mkdirat { event entered(pathname) }", target("filtered"), "threads")
        self.assertEqual(self.names(trace, "entered"), {"in-thread": 10, "in-main": 5})

    def test_where_one_program_finds_the_python_functions_of_many_calls(self):
        trace = self.trace("on syscall:mkdirat { span made(pathname)   stack python }\n"
                           "on syscall:openat { event a(filename)   stack python }\non entry syscall:write { event b(count)   stack python }\n"
                           "on syscall:read { where ret > 4096   event c(ret)   stack python }\non syscall:close { span d(args) }\n"
                           "on syscall:fstat { count by function }\n", target("filtered"))
        self.assertEqual(len(trace.pairs("mkdirat")), 11)
        self.assertEqual(trace.loss("unmatched_begin") + trace.loss("unmatched_end"), 0)

    def test_a_sample(self):
        trace = self.trace("on syscall:mkdirat { sample 1/5   span called(pathname) }", target("filtered"), "threads")
        self.assertEqual(len([event for event in trace.events if event["phase"] == "B"]), 3)

    def test_a_process_that_runs_already(self):
        """What its threads were in when the trace began is none of these: of a thread's first end it is not known."""
        job = subprocess.Popen([target("filtered"), "line"], stdin=subprocess.PIPE, cwd=self.dir)
        self.addCleanup(job.wait)
        live = self.start("on syscall:read { span waited(fd) }\n" + RULES, "--pid", job.pid)
        live.wait_for('"type":"meta"')
        job.communicate(b"go\n")
        self.assertEqual(job.returncode, 0)
        live.wait()
        trace = live.trace()
        self.assertEqual(self.names(trace, "made"), {"after-line": 5})
        self.assertEqual([event for event in trace.events if event["type"] == "waited"], [])

    def test_a_profile(self):
        done = self.mlbcc("profile", "-q", "--no-progress", "-o", self.out, "--json", "p.json", "--", target("filtered"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.calls_of("mkdirat"), (11, 10))

    def calls_of(self, name):  # of a profile, and how many failed
        calls = json.loads((self.dir / "p.json").read_text())["system_calls"]["by_name"]
        one, = [one for one in calls if one["name"] == name]
        return one["calls"], one["errors"]
