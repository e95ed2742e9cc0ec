"""Where probes go and how they are attached: each choice sees every call, with the same values."""

import platform
import re
import unittest

from harness import ROOT, TracerCase, target
from harness.machine import attach_ways

# How functions begin -> where a probe is cheap. The rest must be probed on their first byte.
CHEAP = {"entry_push": 0, "entry_endbr": 4, "entry_nop5": 0, "entry_trampoline": 10}
FIRST_BYTE = ("entry_sub", "entry_mov", "entry_loop", "entry_clobber", "entry_moved")
MAYBE_LATER = ("entry_skip", "entry_short", "entry_nop4", "entry_odd_nop")  # what is cheap depends on the kernel
CALLS = 500


@unittest.skipUnless(platform.machine() == "x86_64", "the entries are x86-64 code")
class Entry(TracerCase):
    def rules(self, text=None, name="test.rules"):
        return super().rules(text or f"""
            library e = "{target('libentries.so')}"
            header "{ROOT}/tests/runtime/targets/entries.h"
            on e:entry_* {{ event seen(a, b) }}
            """, name)

    def calls(self, function, *options):
        trace = self.trace(self.rules(), target("loop"), target("libentries.so"), function,
                           str(CALLS), options=options)
        sums = sum(range(CALLS)) + 2 * CALLS
        self.assertIn(f"sum {sums}", self.last.stderr, "the program's own result changed")
        return trace

    def check(self, function, *options):
        trace = self.calls(function, *options)
        made = [e for e in trace.events if e.get("symbol", e["name"]) == function
                or e["name"] == function]
        self.assertEqual([(e["args"]["a"], e["args"]["b"], e["ret"]) for e in made],
                         [(i, 2, i + 2) for i in range(CALLS)])
        self.assertEqual(trace.summary["lost"], 0)

    def test_every_call_is_seen(self):
        for function in [*CHEAP, *FIRST_BYTE, *MAYBE_LATER]:
            for options in ((), ("--exact-entry",)):
                with self.subTest(function=function, options=options):
                    self.check(function, *options)

    def test_explain_says_where_and_why(self):
        text = self.mlbcc("explain", "--rules", self.rules()).stdout
        places = re.findall(r":(entry_\w+) .*\n +probe +\+(\d+)", text)
        expected = {**CHEAP, **dict.fromkeys(FIRST_BYTE, 0)}
        self.assertEqual({f: int(at) for f, at in places if f in expected}, expected)
        self.assertIn("+4 `pushq %rbp`: emulated; +0 `endbr64` would be single-stepped", text)
        exact = self.mlbcc("explain", "--exact-entry", "--rules", self.rules()).stdout
        self.assertEqual(set(re.findall(r"\n +probe +\+(\d+)", exact)), {"0"})

    def test_an_alias_is_the_same_probe(self):
        trace = self.calls("entry_push_alias")
        self.assertEqual(len(trace.events), CALLS)


class Ways(TracerCase):
    """--attach session, multi and perf give the same trace."""

    def events(self, way):
        trace = self.trace(f"""
            library t = "{target('libtarget_cet.so')}"
            header "{ROOT}/tests/runtime/targets/target.h"
            on t:take_*, t:mix, t:is_even except take_cold_text {{ span user(args) }}  # in memory or not
            on t:fill_out {{ where *out < 0 event seen.out(*out, ret) count by ret as "outs" }}
            on t:take_many {{ where a == 1 hist j as "j" }}
            on t:take_small {{ where a > 0 span user(args) }}
            """, target("call_all_target_cet"), options=("--attach", way))
        drop = ("ts", "pid", "tid", "cpu", "duration_us")
        events = [{k: v for k, v in e.items() if k not in drop} for e in trace.events]
        for event in events:  # addresses differ from run to run
            event["args"] = {k: v for k, v in event.get("args", {}).items()
                             if not str(v).startswith("0x")}
        stats = [{k: v for k, v in s.items() if k != "pid"} for s in trace.summary["stats"]]
        return events, stats, trace.summary["hists"]

    def test_they_agree(self):
        ways = attach_ways()
        results = {way: self.events(way) for way in ways}
        self.assertGreater(len(results["perf"][0]), 20)
        for way in ways:
            self.assertEqual(results[way], results["perf"], way)
        self.assertEqual(results["perf"], self.events("auto"))

    def test_recursion_and_longjmp_in_each_way(self):
        for way in attach_ways():
            with self.subTest(way=way):
                trace = self.trace(f"""
                    int down(int depth);
                    on "{target('deep')}":down {{ span user(depth) }}
                    """, target("deep"), "30", "20", options=("--attach", way))
                self.assertEqual([(b["args"]["depth"], e["ret"]) for b, e in trace.pairs("down")],
                                 [(30 - i % 30,) * 2 for i in range(600)])
                trace = self.trace(f"""
                    library j = "{target('jumps')}"
                    int inner(int i); int middle(int i); int outer(int i);
                    on j:inner, j:middle, j:outer {{ span user(i) }}
                    """, target("jumps"), "20", options=("--attach", way))
                self.assertEqual(len(trace.pairs("outer")), 20)
                self.assertEqual(len(trace.named("inner", "E")), 0)

    def test_an_unknown_way(self):
        done = self.mlbcc("--rules", self.rules("on \"libc.so.6\":malloc { count }"), "--attach",
                          "magic", "--", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("magic", done.stderr)
