#!/usr/bin/env python3
"""Runs the container tests on an image that run.sh has built: a line a test, and the counts."""

import argparse
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "runtime"), str(HERE.parents[1] / "scripts")]

import importlib.util  # noqa: E402  (the path above comes first)

SPEC = importlib.util.spec_from_file_location("runtime_run", HERE.parent / "runtime" / "run.py")
RUNTIME = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(RUNTIME)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", action="append", default=[], metavar="PATTERN", help="tests with this text in their name")
    parser.add_argument("--result", type=Path, metavar="FILE", help="save the counts here, as JSON")
    options = parser.parse_args()
    found = RUNTIME.tests_of(unittest.defaultTestLoader.discover(str(HERE), top_level_dir=str(HERE)))
    result = RUNTIME.Result()
    unittest.TestSuite(test for test in found
                       if not options.k or any(k in RUNTIME.name(test) for k in options.k)).run(result)
    if options.result:
        result.tally.save(options.result)
    print(result.tally.line())
    return 1 if result.tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
