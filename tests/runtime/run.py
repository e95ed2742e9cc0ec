#!/usr/bin/env python3
"""Runs the runtime tests: the real mlbcc, as root, on this kernel.

    MLBCC_BUILD=build/release tests/runtime/run.py [-k PATTERN] [--list] [--result FILE]
"""

import argparse
import signal
import sys
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts")]

from harness import main_is_missing  # noqa: E402  (the path above comes first)
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
        if self.faults is None:
            return
        if self.faults:
            text = "\n".join(self.faults)
            self.tally.fail(name(test), text)
            self.say("FAIL", test)
            print("    " + text.replace("\n", "\n    "), flush=True)
        else:
            self.tally.passed += 1
            self.say("ok", test)

    def say(self, word, test, more=""):
        seconds = time.monotonic() - self.begin
        print(f"{word:4} {seconds:6.2f} s  {name(test)}{more}", flush=True)

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


def main():
    take_all_signals()
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", action="append", default=[], metavar="PATTERN",
                        help="tests with this text in their name")
    parser.add_argument("--list", action="store_true", help="print the tests' names")
    parser.add_argument("--result", type=Path, metavar="FILE", help="save the counts here, as JSON")
    options = parser.parse_args()

    found = list(tests_of(unittest.defaultTestLoader.discover(str(HERE), top_level_dir=str(HERE))))
    chosen = [test for test in found
              if not options.k or any(pattern in name(test) for pattern in options.k)]
    if options.list:
        print("\n".join(name(test) for test in chosen))
        return 0
    result = Result()
    if missing := main_is_missing():
        result.tally.fail("runtime tests", missing)
        print(missing, flush=True)
    else:
        unittest.TestSuite(chosen).run(result)
    if options.result:
        result.tally.save(options.result)
    else:
        print(result.tally.line())
    return 1 if result.tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
