"""Folded stacks: what a flame graph is drawn from, live and from a saved trace."""

import re
from collections import Counter
from decimal import Decimal

from harness import ROOT, TracerCase, target

POOL_H = ROOT / "tests/runtime/targets/pool.h"


def read(text):
    """{stack: weight}, by the rule of speedscope's importer (bg-flamegraph.ts); each stack stands
    once, each line is one."""
    lines = [re.fullmatch(r"(.*) (\d+)", line) for line in text.splitlines()]
    assert all(lines), text
    stacks = {tuple(match[1].split(";")): int(match[2]) for match in lines}
    assert len(stacks) == len(lines), text
    return stacks


def tail(stacks, length):
    """The weights by the innermost frames."""
    out = Counter()
    for stack, weight in stacks.items():
        out[stack[-length:]] += weight
    return out


class Folded(TracerCase):
    def pool(self, rules, *options):
        file = self.dir / "pool.folded"
        trace = self.trace(f"""
            library pool = "{target('libpool.so')}"
            header "{POOL_H}"
            {rules}
            """, target("pool_client"), options=("--folded", file, *options))
        return trace, file.read_text()

    def saved(self, *options):
        done = self.mlbcc("report", "--folded", "-", *options, self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_count_of_events(self):
        trace, text = self.pool("""
            on pool:pool_alloc { event memory.alloc(size) stack user }
            on pool:pool_free  { span memory stack user }
            on pool:pool_find  { span memory }
            """)
        stacks = read(text)
        self.assertEqual(tail(stacks, 3), {("main", "allocate", "pool_alloc"): 5,
                                           ("leaky", "allocate", "pool_alloc"): 1,
                                           ("__libc_start_call_main", "main", "pool_free"): 5})
        self.assertEqual({stack[0] for stack in stacks}, {"pool_client"})
        self.assertEqual(sum(stacks.values()), sum("stack" in event for event in trace.events))
        self.assertNotIn("+0x", text)
        self.assertEqual(self.saved(), text)

    def test_time(self):
        trace, text = self.pool("""
            on pool:pool_alloc { event memory.alloc(size) stack user }
            on pool:pool_free  { span memory stack user }
            """, "--folded-by", "duration")
        took = Counter()
        for event in trace.events:
            took[event.get("function", event["name"])] += event.get("duration_us", Decimal(0))
        for (function,), weight in tail(read(text), 1).items():
            self.assertAlmostEqual(weight, float(took[function]), delta=1.5)  # rounded, two stacks
        self.assertEqual(self.saved("--folded-by", "duration"), text)

    def test_no_rule_takes_stacks(self):
        _, text = self.pool("on pool:pool_free { span memory }")
        self.assertEqual(text, "")
        self.assertIn("pool.folded: no event has a stack: rules take them with `stack user`",
                      self.last.stderr)

    def test_mistakes(self):
        for options, message in (
                (("--folded", "/no/such/f"), "cannot create /no/such/f"),
                (("--folded", self.out), "--folded would overwrite"),
                (("--folded-by", "duration"), "--folded-by says how --folded FILE is written")):
            done = self.mlbcc("--rules", self.rules("on libc:getppid { span a stack user }\n"
                                                    'library libc = "libc.so.6"'),
                              "-o", self.out, *options, "--", "true")
            self.assertIn(done.returncode, (1, 2))
            self.assertIn(message, done.stderr)

    def test_a_trace_is_not_overwritten(self):
        self.pool("on pool:pool_free { span memory stack user }")
        before = self.out.read_bytes()
        done = self.mlbcc("report", "--folded", self.out, self.out)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(self.out.read_bytes(), before)
