"""Rule files at random: what `check` takes is compiled and loaded, alone and beside what ships; and what rules say of a program
is what its own books say."""

import os
import subprocess

from harness import ROOT, TracerCase, ledger, target
from harness.machine import CUDA_SIM
from harness.random_rules import random_rules

HEADER = ROOT / "tests/runtime/targets/target.h"
BUNDLED = sorted(file for file in (ROOT / "rules").glob("*.rules") if file.name != "cuda_library.rules")


class Loads(TracerCase):
    """Sixty files of fixed seeds. By hand: tests/random_rules.py --files 1000 --pairs."""

    def check(self, seeds):
        environment = {**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM)}
        for seed in seeds:
            file = self.rules(random_rules(seed, target("libtarget.so"), HEADER))
            for beside in (), ("--rules", BUNDLED[seed % len(BUNDLED)]):
                done = self.mlbcc("check", "--compile", "--no-cache", "--rules", file, *beside, env=environment)
                self.assertEqual(done.returncode, 0, f"seed {seed} {beside}:\n{done.stderr}\n{file.read_text()}")

    def test_0_to_9(self):
        self.check(range(10))

    def test_10_to_19(self):
        self.check(range(10, 20))

    def test_20_to_29(self):
        self.check(range(20, 30))

    def test_30_to_39(self):
        self.check(range(30, 40))

    def test_40_to_49(self):
        self.check(range(40, 50))

    def test_50_to_59(self):
        self.check(range(50, 60))


class Books(TracerCase):
    """Fifty files, on a program that prints what it called with what, and what that returned."""

    def check(self, seeds):
        program = target("ledger")
        for seed in seeds:
            rules = ledger.random_rules(seed)
            text = ledger.HEAD + "".join(rule.text(program) for rule in rules)
            trace = self.trace(text, program, str(seed + 1), "400", stdout=subprocess.PIPE)
            self.assertEqual(trace.summary["lost"], 0)
            calls = ledger.read_books(self.last.stdout.split("=== TRACE")[0])
            self.assertEqual(len(calls), 400)
            for rule in rules:
                groups, events = rule.expected(calls)
                for label, expected in groups.items():
                    wanted = {key: self.of(label, value) for key, value in expected.items()}
                    self.assertEqual(self.told(trace, label), wanted, f"seed {seed}: {label}\n{text}")
                for (kind, name), expected in events.items():
                    told = [tuple(one["args"].values()) for one in trace.events if (one["type"], one["name"]) == (kind, name)]
                    self.assertEqual(told, expected, f"seed {seed}: {kind}.{name}\n{text}")

    @staticmethod
    def of(label, value):
        calls, total, least, most = value
        return {"count": calls, "sum": total, "hist": (calls, total, least, most)}[label.split()[0]]

    def told(self, trace, label):
        if label.startswith("hist"):
            return {tuple(map(str, one["by"].values())): (one["count"], one["sum"], one["min"], one["max"]) for one in trace.hist(label)}
        return {tuple(map(str, key)): value for key, value in trace.stats(label).items()}

    def test_0_to_16(self):
        self.check(range(17))

    def test_17_to_33(self):
        self.check(range(17, 34))

    def test_34_to_49(self):
        self.check(range(34, 50))
