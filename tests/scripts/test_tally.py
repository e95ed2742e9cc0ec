"""What a step found is counted, said and kept: files that were checked are no tests."""

import tempfile
import unittest
from pathlib import Path

from testing.tally import Tally


class Counts(unittest.TestCase):
    def test_the_closing_line_counts_tests(self):
        tally = Tally(passed=2, checked=900)
        tally.fail("a", "why")
        tally.skip("b", "no GPU")
        self.assertEqual(tally.line(), "2 passed, 1 failed, 1 skipped")

    def test_a_step_without_tests_has_files_or_nothing(self):
        self.assertEqual(Tally(checked=900).step_line(), "900 files, 0 failed")
        self.assertEqual(Tally().step_line(), "done")
        failed = Tally()
        failed.fail("build (release)", "an error")
        self.assertEqual(failed.step_line(), "failed")

    def test_sums_and_the_slowest(self):
        tally = Tally(passed=1, times=[("quick", 0.5), ("slow", 9.0)])
        tally.add(Tally(passed=2, skips=[("b", "no GPU")], checked=3, times=[("middle", 2.0)]))
        self.assertEqual((tally.line(), tally.checked), ("3 passed, 0 failed, 1 skipped", 3))
        self.assertEqual(tally.slowest(2), [("slow", 9.0), ("middle", 2.0)])

    def test_from_a_file_it_is_the_same(self):
        tally = Tally(passed=4, failures=[("a", "why")], skips=[("b", "no GPU")], times=[("a", 1.5)])
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "tally.json")
            tally.save(file)
            self.assertEqual(Tally.load(file), tally)
