"""Which runtime tests run alone, which two at a time, and which only where all is run."""

import types
import unittest
import unittest.mock

import example_lanes
import run as runtime  # tests/runtime/run.py
from testing.tally import Tally


def found():
    load = unittest.defaultTestLoader.loadTestsFromTestCase
    return list(runtime.tests_of(unittest.TestSuite(map(load, (example_lanes.Example, example_lanes.Alone)))))


def chosen(**options):
    given = {"k": [], "thorough": False, "lane": None, "repeat": 1, **options}
    return tuple([test._testMethodName for test in lane]
                 for lane in runtime.chosen_of(found(), types.SimpleNamespace(**given)))


class Lanes(unittest.TestCase):
    def test_by_their_marks(self):
        self.assertEqual(chosen(), (["test_measures", "test_fills", "test_skips"], ["test_waits"]))
        self.assertEqual(chosen(lane="wide"), ([], ["test_waits"]))
        self.assertEqual(chosen(lane="quiet", k=["Alone"]), (["test_fills", "test_skips"], []))

    def test_what_takes_long_is_asked_for(self):
        self.assertEqual(chosen(thorough=True, lane="wide"), ([], ["test_for_an_hour", "test_waits"]))
        self.assertEqual(chosen(k=["Example"]), (["test_measures"], ["test_waits"]))
        self.assertEqual(chosen(k=["test_for_an"]), ([], ["test_for_an_hour"]))

    def test_again(self):
        self.assertEqual(chosen(k=["waits"], repeat=3), ([], ["test_waits"] * 3))

    def test_two_processes_find_what_one_finds(self):
        tests = found() * 3
        with unittest.mock.patch.object(runtime.Result, "say"):
            beside, here = runtime.run_beside(tests, 2), runtime.run_here(tests)
        for tally in (beside, here):
            self.assertEqual(tally.line(), "12 passed, 0 failed, 3 skipped")
            self.assertEqual(len(tally.times), 15)
        self.assertEqual(sorted(beside.skips), sorted(here.skips))
        self.assertIsInstance(beside, Tally)
