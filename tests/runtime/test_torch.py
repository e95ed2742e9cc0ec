"""Operators of PyTorch (Debian's python3-torch): as many of each as its own profiler counts."""

import collections
import json
import os
import subprocess
import unittest

from harness import ROOT, TracerCase

PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's torch
MODEL = ROOT / "tests/runtime/targets/torch_model.py"


def why_not_torch():
    if not os.path.exists(PYTHON):
        return f"there is no {PYTHON}"
    done = subprocess.run([PYTHON, "-c", "import torch"], capture_output=True)
    return None if done.returncode == 0 else "python3-torch is not installed (scripts/setup.sh --tests)"


class Operators(TracerCase):
    @classmethod
    def setUpClass(cls):
        reason = why_not_torch()
        if reason is not None:
            raise unittest.SkipTest(reason)

    def run_model(self, rules, mode="works"):
        """The trace, and what the profiler said."""
        said = self.dir / "profiler.json"
        trace = self.trace(ROOT / "rules" / rules, PYTHON, MODEL, said, mode)
        self.assertEqual(trace.summary["lost"], 0)
        return trace, json.loads(said.read_text())

    def name(self, function, said):
        """at::_ops::add_Tensor::call -> aten::add"""
        scope, ops, operator, call = function.split("::")
        self.assertEqual((scope, ops, call), ("at", "_ops", "call"))
        return said["operators"][operator]

    def counted(self, trace, said):
        counts = collections.Counter()
        for (function,), value in trace.stats("Operators").items():
            counts[self.name(function, said)] += value
        return dict(counts)

    def test_are_those_of_the_profiler(self):
        trace, said = self.run_model("torch.rules")
        self.assertEqual(self.counted(trace, said), said["counts"])
        for name in ("aten::conv2d", "aten::relu", "aten::linear", "aten::softmax",
                     "aten::convolution_backward", "aten::threshold_backward"):
            self.assertEqual(said["counts"][name], 3, name)
        events = collections.Counter(self.name(e["name"], said) for e in trace.events)
        self.assertEqual(dict(events), said["counts"])

    def test_one_that_fails_ends_nothing(self):
        trace, said = self.run_model("torch.rules", "fails")
        self.assertTrue(said["failed"])
        self.assertEqual(self.counted(trace, said), said["counts"])

    def test_what_is_called_without_types_is_the_profilers_alone(self):
        trace, said = self.run_model("torch.rules", "boxed")
        missing = collections.Counter(said["counts"])
        missing.subtract(self.counted(trace, said))
        self.assertEqual({name: n for name, n in missing.items() if n != 0}, {"aten::add": 2, "aten::mul": 1})

    def test_with_durations(self):
        trace, said = self.run_model("torch_time.rules")
        self.assertEqual(self.counted(trace, said), said["counts"])
        calls = [pair for function in {e["name"] for e in trace.events} for pair in trace.pairs(function)]
        self.assertEqual(len(calls), sum(said["counts"].values()))
        inner = {trace.parent(e)["name"] for e in trace.named("at::_ops::addmm::call", "B")}
        self.assertEqual(inner, {"at::_ops::linear::call"})
        timed = {h["by"]["function"]: h["count"] for h in trace.hist("Time in operators")}
        self.assertEqual(timed, {function: n for (function,), n in trace.stats("Operators").items()})
