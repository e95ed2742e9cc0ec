#!/usr/bin/env python3
"""Runs the tests of what runs the tests: scripts/testing and the lanes of tests/runtime.

    tests/scripts/run.py [--result FILE]
"""

import argparse
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests" / "runtime"), str(ROOT / "scripts"), str(ROOT / "tests"), str(HERE)]

import run as runtime  # noqa: E402  (tests/runtime/run.py: how results are shown)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--result", type=Path, metavar="FILE", help="save the counts here, as JSON")
    options = parser.parse_args()
    suite = unittest.defaultTestLoader.discover(str(HERE), top_level_dir=str(HERE))
    tally = runtime.run_here(runtime.tests_of(suite))
    return tally.conclude(options.result)


if __name__ == "__main__":
    sys.exit(main())
