#!/usr/bin/env python3
"""Runs the tests of tests/vm in virtual machines, all at the same time: one for each kernel, with a
stand-in for NVIDIA's driver (inside/), and one with NVIDIA's own (driver/). With --arch arm64, of
that processor, which is slow: what tests of tests/runtime and of kernel functions say there
(processor/); built by tests/arm64/run.sh.

    MLBCC_BUILD=build/release tests/vm/run.py [--short] [--kernel 6.1] [-k PATTERN] [--list] [--result FILE]
    MLBCC_BUILD=build/arm64 tests/vm/run.py --arch arm64

Needs Debian 12, root and scripts/setup.sh --tests. Kernels and driver are fetched into build/vm, or
$MLBCC_VM_CACHE. A new test is a function test_... of a VmCase in inside/, a DriverCase in driver/.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests" / "runtime"), str(ROOT / "scripts")]

import run as runtime  # noqa: E402  (tests/runtime/run.py: how results are shown)
from harness import main_is_missing  # noqa: E402
from harness.machine import BUILD  # noqa: E402
from testing.tally import Tally  # noqa: E402
from virtual import (JOB, KERNELS, PROCESSORS, SETUPS, VM_FAILED, Unavailable,  # noqa: E402
                     why_not)

LIMIT = 2400  # seconds for all tests of one machine
# --short: a machine's name -> how its tests' names begin. What only kprobes and modules show, on the oldest
# kernel; many threads on one CPU, on the newest, which preempts them.
SHORT = {"6.1": ("test_kernel.", "test_nvidia.", "test_standin."), "7.3": ("test_one_cpu.OneCpu.",)}


def inside(options):
    """In the virtual machine: loads the modules, runs the tests."""
    setup = SETUPS[options.inside]
    setup.load()
    result = runtime.Result()
    unittest.TestSuite(chosen_tests(setup, options)).run(result)
    result.tally.save(JOB / "result.json")


def chosen_tests(setup, options):
    found = unittest.defaultTestLoader.discover(str(HERE / setup.tests), top_level_dir=str(HERE))
    return [test for test in runtime.tests_of(found)
            if (not options.k or any(pattern in runtime.name(test) for pattern in options.k))
            and (not options.short or runtime.name(test).startswith(SHORT.get(setup.name, ())))]


def in_machine(setup, options):
    """All tests in a virtual machine of this setup; their names begin with its name."""
    say = Printer(setup.name)
    tally = Tally()
    environment = {"MLBCC_BUILD": BUILD, "MLBCC_RUNS": os.environ.get("MLBCC_RUNS", "1")}
    with tempfile.TemporaryDirectory(prefix="mlbcc-vm-") as folder:
        job = Path(folder)
        try:
            arguments = [part for pattern in options.k for part in ("-k", pattern)]
            arguments += ["--short"] if options.short else []
            command = ["/usr/bin/python3", HERE / "run.py", "--inside", setup.name, *arguments]
            folders = [ROOT] if ROOT in BUILD.parents else [ROOT, BUILD]
            status = setup.run(command, folders, job, environment, say, LIMIT)
            tally = result_of(job, status)
        except Unavailable as reason:
            say(f"skip  {reason}")
            tally.skip("tests in the virtual machine", str(reason))
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            say(f"FAIL  {error}")
            tally.fail("setting up the virtual machine", str(error))
    return Tally(tally.passed, named(setup.name, tally.failures), named(setup.name, tally.skips),
                 times=named(setup.name, tally.times))


def named(machine, entries):
    return [(f"{machine} {test}", more) for test, more in entries]


def result_of(job, status):
    result = job / "result.json"
    if result.exists():
        return Tally.load(result)
    tally = Tally()
    what = "failed" if status == VM_FAILED else f"ended with status {status} and no result"
    tally.fail("the virtual machine", what)
    return tally


class Printer:
    """Prints whole lines that begin with the machine's name."""

    lock = threading.Lock()

    def __init__(self, machine):
        self.machine = machine

    def __call__(self, text):
        with self.lock:
            for line in text.splitlines():
                print(f"{self.machine:10} {line}", flush=True)


def setups(options):
    return [setup for setup in SETUPS.values()
            if setup.kernel in options.kernel and setup.processor.name == options.arch]


def outside(options):
    tally = Tally()
    if main_is_missing():
        tally.fail("tests in the virtual machine", main_is_missing())
    elif (reason := why_not(PROCESSORS[options.arch])) is not None:
        print(f"skip  {reason}")
        tally.skip("tests in the virtual machine", reason)
    else:
        chosen = [setup for setup in setups(options) if chosen_tests(setup, options)]
        with ThreadPoolExecutor() as pool:
            for one in pool.map(lambda setup: in_machine(setup, options), chosen):
                tally.add(one)
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", action="append", choices=KERNELS, help="default: all")
    parser.add_argument("--arch", choices=PROCESSORS, default="amd64", help="default: %(default)s")
    parser.add_argument("-k", action="append", default=[], metavar="PATTERN",
                        help="tests with this text in their name")
    parser.add_argument("--short", action="store_true",
                        help="the tests of kprobes and modules on 6.1, those of one CPU on 7.3")
    parser.add_argument("--list", action="store_true", help="print the tests' names")
    parser.add_argument("--result", type=Path, metavar="FILE", help="save the counts here, as JSON")
    parser.add_argument("--inside", choices=SETUPS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.kernel = options.kernel or list(KERNELS)
    if options.list:
        for setup in setups(options):
            for test in chosen_tests(setup, options):
                print(setup.name, runtime.name(test))
        return 0
    if options.inside:
        inside(options)
        return 0
    tally = outside(options)
    for test, text in tally.failures if not options.result else ():
        print(f"FAIL {test}\n    " + text.replace("\n", "\n    "))
    return tally.conclude(options.result)


if __name__ == "__main__":
    sys.exit(main())
