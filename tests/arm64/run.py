#!/usr/bin/env python3
"""Builds for arm64, runs the unit tests by qemu-user and, with --vm, tests/vm. Started by run.sh."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from testing import command, units  # noqa: E402  (the path above comes first)
from testing.tally import Tally  # noqa: E402

BUILD, LOGS = ROOT / "build" / "arm64", ROOT / "build" / "logs"
LIMIT = 7200  # seconds for the build: LLVM's headers take their time
CONFIGURE = ["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja",
             "--toolchain", ROOT / "cmake" / "arm64.cmake",
             f"-DMLBCC_ARM64_ROOT={os.environ['MLBCC_ARM64_ROOT']}",
             "-DCMAKE_BUILD_TYPE=Quick", "-DCMAKE_CXX_FLAGS=-g0",  # compiling takes longest
             "-DMLBCC_WERROR=ON", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache",
             "-DCMAKE_C_COMPILER_LAUNCHER=ccache"]

# Unit tests of what qemu-user does not emulate, and why; those of BPF, openat2 and memory run in the virtual
# machine.
NOT_EMULATED = {
    "BundleTest.*": "they need BPF",
    "ChildProcess.AFolderOfPathThatTheUserMayNotReadHasNoProgram": "a fork is no vfork",
    "ChildProcess.OutlivesAKilledTracerOnlyOnceItIsReleased": "no PR_SET_CHILD_SUBREAPER",
    "ChildProcess.RunsAsAnotherUser": "a fork is no vfork",
    "ChildProcess.SignalsAreAsTheCallerOfTheToolHasThem": "the emulator has signals of its own",
    "CompilerProcess.IsNotThere": "a fork is no vfork",
    "CpuTime.HasThatOfChildrenThatWereWaitedFor": "the emulator's own /proc/self/stat has no times of children",
    "FindLibrary.AProcessBelowAnotherRootHasItsOwnFiles": "no openat2",
    "FindLibrary.ALoadedLibraryThatWasDeletedIsStillFound": "a process's mappings are the emulator's",
    "FindLibrary.WhatAProcessHasLoadedComesFirst": "a process's mappings are the emulator's",
    "Guarded.*": "no fanotify",
    "MadeCodes.*": "no openat2",
    "OpenFile.*": "no openat2",
    "ProcessReader.ThisProcess": "the emulator's own /proc/self/stat has no memory",
    "Roots.*": "no openat2",
    "SleepingThreads.SayWhatTheyWaitFor": "/proc/PID/syscall has the host's numbers of system calls",
    "Symbols.AreKnownAfterAProcessHasEnded": "a process's mappings are the emulator's",
    "Symbols.SayThatAFileWasNotRead": "no openat2",
    "Symbols.GoThroughASignal": "no vdso, which signal handlers return to",
    "UnwindPython.FindsTheCallersOfACtypesCall": "no ptrace",
    "Unwinder.GoesThroughASignalHandlersFrame": "no vdso, which signal handlers return to",
}


def units_by_emulator():
    tally = units.run(BUILD, ROOT, LOGS, "arm64", limit=1500,
                      env={"GTEST_FILTER": "-" + ":".join(NOT_EMULATED)})
    for tests, reason in NOT_EMULATED.items():
        tally.skip(f"{tests} (arm64)", f"not emulated: {reason}")
    return tally


def build():
    tally = Tally()
    for what, words in (("configure", CONFIGURE), ("build", ["cmake", "--build", BUILD])):
        print(f"arm64: {what}", flush=True)
        status, tail = command.run(words, LOGS / f"{what}-arm64.log", ROOT, timeout=LIMIT)
        if status != 0:
            tally.fail(f"{what} (arm64)", tail)
            return tally
    tally.passed = 1
    return tally


def in_machine():
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        subprocess.run([sys.executable, ROOT / "tests" / "vm" / "run.py", "--arch", "arm64",
                        "--result", result], env={**os.environ, "MLBCC_BUILD": str(BUILD)})
        if result.exists():
            return Tally.load(result)
    tally = Tally()
    tally.fail("tests in the virtual machine (arm64)", "ended with no result")
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vm", action="store_true", help="and the tests in a virtual machine")
    parser.add_argument("--result", type=Path, metavar="FILE", help="save the counts here, as JSON")
    options = parser.parse_args()
    tally = build()
    if not tally.failures:
        print("arm64: unit tests", flush=True)
        tally.add(units_by_emulator())
        if options.vm:
            tally.add(in_machine())
    for word, entries in (("FAIL", tally.failures), ("skip", tally.skips)):
        for test, text in entries:
            print(f"{word}  {test}: {text}")
    if options.result:
        tally.save(options.result)
    print(tally.line())
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
