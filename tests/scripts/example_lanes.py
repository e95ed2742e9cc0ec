"""Tests with each mark, for test_lanes.py."""

import unittest

from harness.lanes import quiet, thorough


class Example(unittest.TestCase):
    def test_waits(self):
        pass

    @quiet
    def test_measures(self):
        pass

    @thorough
    def test_for_an_hour(self):
        pass


@quiet
class Alone(unittest.TestCase):
    def test_fills(self):
        pass

    def test_skips(self):
        self.skipTest("no GPU")
