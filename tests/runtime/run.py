#!/usr/bin/env python3
"""Runs the runtime tests: the real mlbcc, as root, on this kernel. Those that measure or fill the
machine first, one by one; then the others, --jobs at a time (harness/lanes.py).

    MLBCC_BUILD=build/release tests/runtime/run.py [-k PATTERN] [--list] [--result FILE]
"""

import argparse
import multiprocessing
import signal
import sys
import time
import unittest
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts")]

from harness import main_is_missing  # noqa: E402  (the path above comes first)
from harness.lanes import is_quiet, is_thorough  # noqa: E402
from testing.tally import Tally  # noqa: E402


class Result(unittest.TestResult):
    """Prints a line a test as it ends and keeps the Tally."""

    def __init__(self):
        super().__init__()
        self.tally = Tally()

    def startTest(self, test):
        super().startTest(test)
        self.begin, self.faults = time.monotonic(), []

    def stopTest(self, test):
        super().stopTest(test)
        self.tally.took(name(test), time.monotonic() - self.begin)
        if self.faults is None:
            return
        if self.faults:
            text = "\n".join(self.faults)
            self.tally.fail(name(test), text)
            self.say("FAIL", test, "\n    " + text.replace("\n", "\n    "))
        else:
            self.tally.passed += 1
            self.say("ok", test)

    def say(self, word, test, more=""):
        seconds = time.monotonic() - self.begin
        # in one piece: another process prints, too
        sys.stdout.write(f"{word:4} {seconds:6.2f} s  {name(test)}{more}\n")
        sys.stdout.flush()

    def fault(self, test, error):
        if isinstance(test, unittest.suite._ErrorHolder):  # of a class or a module
            text = self._exc_info_to_string(error, test)
            self.tally.fail(str(test), text)
            print(f"FAIL {test}\n    " + text.replace("\n", "\n    "), flush=True)
        else:
            self.faults.append(self._exc_info_to_string(error, test))

    def addError(self, test, error):
        self.fault(test, error)

    def addFailure(self, test, error):
        self.fault(test, error)

    def addSubTest(self, test, subtest, error):
        if error is not None:
            about = str(subtest).split(" ", 2)[-1]
            self.faults.append(f"{about}: {self._exc_info_to_string(error, test)}")

    def addSkip(self, test, reason):
        self.faults = None
        self.tally.skip(name(test), reason)
        self.say("skip", test, f": {reason}")


def name(test):
    return ".".join(test.id().split(".")[-3:])


def tests_of(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from tests_of(item)
        else:
            yield item


def take_all_signals():
    """What nohup or a shell's background ignores, the programs that tests start would ignore, too."""
    for one in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(one, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def run_here(tests):
    """One after another, in this process; the Tally."""
    result = Result()
    unittest.TestSuite(tests).run(result)
    return result.tally


def run_beside(tests, jobs):
    """`jobs` at a time, each in one of as many processes; a class that sets itself up stays together."""
    groups = {}
    for number, test in enumerate(tests):
        groups.setdefault(type(test) if "setUpClass" in vars(type(test)) else number, []).append(test)
    tally = Tally()
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as pool:
        for one in pool.map(run_here, groups.values()):
            tally.add(one)
    return tally


def chosen_of(found, options):
    """(quiet tests, others), `--repeat` times each."""
    chosen = [test for test in found
              if not options.k or any(pattern in name(test) for pattern in options.k)]
    if not options.thorough:
        named = [pattern for pattern in options.k if pattern.startswith("test_")]
        chosen = [test for test in chosen if not is_thorough(test)
                  or any(pattern in test._testMethodName for pattern in named)]
    quiet = [test for test in chosen if is_quiet(test)] * options.repeat
    others = [test for test in chosen if not is_quiet(test)] * options.repeat
    return (quiet if options.lane != "wide" else [], others if options.lane != "quiet" else [])


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", action="append", default=[], metavar="PATTERN",
                        help="tests with this text in their name")
    parser.add_argument("--thorough", action="store_true",
                        help="also what takes minutes; else only by -k with a test's own name")
    parser.add_argument("--lane", choices=("quiet", "wide"), help="only the first, or the others")
    parser.add_argument("--jobs", type=int, default=2, metavar="N",
                        help="of the others so many at a time (default: %(default)s)")
    parser.add_argument("--repeat", type=int, default=1, metavar="N",
                        help="run each test N times, to find those that fail now and then")
    parser.add_argument("--list", action="store_true", help="print the tests' names")
    parser.add_argument("--result", type=Path, metavar="FILE", help="save the counts here, as JSON")
    return parser.parse_args()


def main():
    take_all_signals()
    options = parse()
    found = list(tests_of(unittest.defaultTestLoader.discover(str(HERE), top_level_dir=str(HERE))))
    quiet, others = chosen_of(found, options)
    if options.list:
        print("\n".join(name(test) for test in quiet + others))
        return 0
    tally = Tally()
    if missing := main_is_missing():
        tally.fail("runtime tests", missing)
        print(missing, flush=True)
    else:
        tally.add(run_here(quiet))
        tally.add(run_beside(others, options.jobs) if options.jobs > 1 else run_here(others))
    return tally.conclude(options.result)


if __name__ == "__main__":
    sys.exit(main())
