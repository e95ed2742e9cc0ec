#!/usr/bin/env python3
"""Runs the tests of tests/vm/inside in virtual machines, one for each kernel, at the same time.

    MLBCC_BUILD=build/release tests/vm/run.py [--kernel 6.1] [-k PATTERN] [--list] [--result FILE]

Needs Debian 12, root and scripts/setup.sh --tests. The kernels are fetched into build/vm, or
$MLBCC_VM_CACHE. A new test is a function test_... of a VmCase in inside/.
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
from virtual import (KERNELS, VM_FAILED, Unavailable, build_standin, fetch,  # noqa: E402
                     why_not)
from virtual import run as run_in_vm  # noqa: E402

LIMIT = 2400  # seconds for all tests on one kernel
JOB = Path("/run/job")  # in the virtual machine
STANDIN = JOB / "standin"
NODES = {"nvidia0": ("nvidia", 0), "nvidiactl": ("nvidia", 255), "nvidia-uvm": ("nvidia-uvm", 0)}


def inside(options):
    """In the virtual machine: loads the modules, runs the tests."""
    for module in ("nvidia.ko", "nvidia-uvm.ko"):
        subprocess.run(["insmod", STANDIN / module], check=True)
    make_nodes()
    result = runtime.Result()
    unittest.TestSuite(chosen_tests(options)).run(result)
    result.tally.save(JOB / "result.json")


def make_nodes():
    """As nvidia-modprobe does. In /proc/devices: `195 nvidia`."""
    majors = {}
    for line in Path("/proc/devices").read_text().splitlines():
        number, _, name = line.strip().partition(" ")
        majors[name] = number
    for node, (name, minor) in NODES.items():
        Path("/dev", node).unlink(missing_ok=True)
        os.mknod(Path("/dev", node), 0o20666, os.makedev(int(majors[name]), minor))


def chosen_tests(options):
    found = unittest.defaultTestLoader.discover(str(HERE / "inside"), top_level_dir=str(HERE))
    return [test for test in runtime.tests_of(found)
            if not options.k or any(pattern in runtime.name(test) for pattern in options.k)]


def on_kernel(version, options):
    """All tests in a virtual machine with this kernel; their names begin with its version."""
    say = Printer(version)
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="mlbcc-vm-") as folder:
        job = Path(folder)
        try:
            kernel = fetch(version)
            build_standin(kernel, job / "standin")
            arguments = [part for pattern in options.k for part in ("-k", pattern)]
            command = ["/usr/bin/python3", HERE / "run.py", "--inside", *arguments]
            folders = [ROOT] if ROOT in BUILD.parents else [ROOT, BUILD]
            status = run_in_vm(kernel, command, folders, job, {"MLBCC_BUILD": BUILD}, say, LIMIT)
            tally = result_of(job, status)
        except Unavailable as reason:
            say(f"skip  {reason}")
            tally.skip("tests in the virtual machine", str(reason))
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            say(f"FAIL  {error}")
            tally.fail("setting up the virtual machine", str(error))
    return Tally(tally.passed, named(version, tally.failures), named(version, tally.skips))


def named(version, entries):
    return [(f"{version} {test}", text) for test, text in entries]


def result_of(job, status):
    result = job / "result.json"
    if result.exists():
        return Tally.load(result)
    tally = Tally()
    what = "failed" if status == VM_FAILED else f"ended with status {status} and no result"
    tally.fail("the virtual machine", what)
    return tally


class Printer:
    """Prints whole lines that begin with the kernel's version."""

    lock = threading.Lock()

    def __init__(self, version):
        self.version = version

    def __call__(self, text):
        with self.lock:
            for line in text.splitlines():
                print(f"{self.version:4} {line}", flush=True)


def outside(options):
    tally = Tally()
    if main_is_missing():
        tally.fail("tests in the virtual machine", main_is_missing())
    elif why_not():
        print(f"skip  {why_not()}")
        tally.skip("tests in the virtual machine", why_not())
    else:
        with ThreadPoolExecutor() as pool:
            for one in pool.map(lambda version: on_kernel(version, options), options.kernel):
                tally.add(one)
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", action="append", choices=KERNELS, help="default: all")
    parser.add_argument("-k", action="append", default=[], metavar="PATTERN",
                        help="tests with this text in their name")
    parser.add_argument("--list", action="store_true", help="print the tests' names")
    parser.add_argument("--result", type=Path, metavar="FILE", help="save the counts here, as JSON")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.kernel = options.kernel or list(KERNELS)
    if options.list:
        print("\n".join(runtime.name(test) for test in chosen_tests(options)))
        return 0
    if options.inside:
        inside(options)
        return 0
    tally = outside(options)
    if options.result:
        tally.save(options.result)
    else:
        print(tally.line())
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
