#!/usr/bin/env python3
"""Builds mlbcc and runs all its tests, step by step. The last line is
`N passed, N failed, N skipped`; the exit status is 0 only where nothing failed.

What a step prints in full stands in build/logs/.
"""

import argparse
import sys

from testing import changed, schedule, thorough
from testing.steps import ROOT, STEPS

SLOWEST = 10  # tests that are named with their time


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="STEP,...", help="run these steps only")
    parser.add_argument("--list", action="store_true", help="list the steps")
    parser.add_argument("-k", action="append", default=[], metavar="PATTERN",
                        help="run tests of runtime and vm whose name contains PATTERN")
    parser.add_argument("--changed", nargs="?", const="", metavar="BASE",
                        help="what a change since BASE can touch, uncommitted work included (default: "
                        "since the remote's last commit, or one commit ago); see tests/touches.txt")
    parser.add_argument("--thorough", action="store_true",
                        help="also what takes long: soak, overload, all kernels; before a release")
    parser.add_argument("--repeat", type=int, default=1, metavar="N",
                        help="run each runtime test N times, to find those that fail now and then")
    parser.add_argument("--tidy-seconds", type=float, default=900, metavar="S",
                        help="time limit for clang-tidy (default %(default)s)")
    options = parser.parse_args()
    options.steps = options.only.split(",") if options.only else list(STEPS)
    options.units, options.runtime, options.vm, options.tidy = (), (), (), ()  # of all there are
    if options.changed is not None and options.only:
        parser.error("--changed chooses the steps itself; leave --only out")
    if "runtime" in options.steps:
        options.steps.append("quiet")  # of the same tests
    unknown = [step for step in options.steps if step not in STEPS]
    if unknown:
        parser.error(f"no step `{unknown[0]}`; the steps are {', '.join(STEPS)}")
    return options


def choose_changed(options):
    base, files = changed.since(ROOT, options.changed)
    plan = changed.plan(files, ROOT)
    for line in plan.said(base):
        print(f"== {line}", flush=True)
    if not plan.uncovered:
        options.steps = plan.steps()
        options.units, options.runtime, options.vm, options.tidy = plan.units, plan.runtime, plan.vm, plan.tidy


def report(done, options, tested):
    """What the run found; the exit status."""
    print()
    if options.thorough and done.is_whole and not options.k and options.changed is None:
        thorough.write(ROOT, tested)
        print(f"thorough: noted in {thorough.file(ROOT).relative_to(ROOT)}; commit it")
    total = done.total
    for test, reason in total.skips:
        print(f"skipped {test}: {reason}")
    for test, seconds in total.slowest(SLOWEST):
        if seconds >= 1:
            print(f"slowest {seconds:4.0f} s  {test}")
    for name, seconds in done.times.items():
        print(f"step    {seconds:4.0f} s  {name}")
    if owed := thorough.changed(ROOT):
        print(f"owed: scripts/test.sh --thorough; no green one is noted of {', '.join(owed)} as it is now")
    for test, _ in total.failures:
        print(f"failed  {test}")
    print(total.line(), flush=True)
    nothing_ran = total.passed == 0 and any(STEPS[name].has_tests for name in done.times)
    return 1 if total.failures or nothing_ran else 0


def main():
    options = parse()
    if options.list:
        for name, step in STEPS.items():
            print(f"{name:8} {step.meaning}")
        return 0
    if options.changed is not None:
        try:
            choose_changed(options)
        except changed.CannotSay as reason:
            print(f"error: {reason}", file=sys.stderr)
            return 2
    tested = thorough.lines(ROOT)
    return report(schedule.run(options), options, tested)


if __name__ == "__main__":
    sys.exit(main())
