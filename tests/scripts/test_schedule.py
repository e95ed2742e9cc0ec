"""Steps run in their order; those that go on beside others wait for what runs alone."""

import contextlib
import io
import os
import threading
import types
import unittest
from unittest import mock

from testing import schedule
from testing.steps import Step
from testing.tally import Tally


class Order(unittest.TestCase):
    def run_steps(self, steps, chosen=None):
        """The Done and what was printed."""
        said = io.StringIO()
        options = types.SimpleNamespace(steps=chosen or list(steps))
        with mock.patch.object(schedule, "STEPS", steps), contextlib.redirect_stdout(said):
            return schedule.run(options), said.getvalue()

    def step(self, name, passed=1, failure=None, **flags):
        def work(_options):
            self.ran.append(name)
            tally = Tally(passed=passed)
            if failure:
                tally.fail(name, failure)
            return tally
        return Step(work, f"about {name}", **flags)

    def setUp(self):
        self.ran = []

    def test_nothing_behind_what_is_needed(self):
        done, said = self.run_steps({"build": self.step("build", 0, "an error", needed=True),
                                     "beside": self.step("beside", is_beside=True),
                                     "behind": self.step("behind")})
        self.assertEqual(self.ran, ["build"])
        self.assertEqual(done.total.line(), "0 passed, 1 failed, 0 skipped")
        self.assertIn("== build: failed in 0 s\nFAILED build\n    an error\n"
                      "== the steps behind `build` cannot run without it\n", said)

    def test_beside_is_at_the_same_time_and_niced(self):
        met = threading.Barrier(2, timeout=20)
        niceness = {}

        def meet(name):
            def work(_options):
                niceness[name] = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
                met.wait()
                return Tally(passed=1)
            return work

        mine = os.getpriority(os.PRIO_PROCESS, 0)
        done, _ = self.run_steps({"alone": self.step("alone"), "beside": Step(meet("beside"), "", is_beside=True),
                                  "behind": Step(meet("behind"), "")})
        self.assertEqual(done.total.passed, 3)
        self.assertEqual(niceness, {"beside": 19, "behind": mine})

    def test_a_step_beside_that_breaks_breaks_the_run(self):
        def break_down(_options):
            raise RuntimeError("no memory")

        with self.assertRaisesRegex(RuntimeError, "no memory"):
            self.run_steps({"beside": Step(break_down, "", is_beside=True), "behind": self.step("behind")})
        self.assertEqual(self.ran, ["behind"])

    def test_the_chosen_ones_only(self):
        steps = {name: self.step(name, is_beside=name == "unit") for name in ("build", "unit", "runtime")}
        done, said = self.run_steps(steps, ["unit"])
        self.assertEqual((self.ran, list(done.times)), (["unit"], ["unit"]))
        self.assertTrue(said.startswith("== unit: about unit\n== unit: 1 passed, 0 failed, 0 skipped in"), said)
