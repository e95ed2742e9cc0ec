#!/usr/bin/env python3
"""Builds mlbcc and runs all its tests, step by step. The last line is
`N passed, N failed, N skipped`; the exit status is 0 only where nothing failed.

Each step returns a Tally. What a step prints in full stands in build/logs/.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from testing import command, tidy, units
from testing.tally import Tally

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "logs"
JOBS = str(os.cpu_count() or 1)


def build(preset, *settings, targets=(), folder=None):
    """Configures and builds a preset, in a folder of its name or another; the Tally has one case."""
    tally = Tally()
    name = folder or preset
    folder = ROOT / "build" / name
    quick = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", "-DCMAKE_C_COMPILER_LAUNCHER=ccache"]
    if shutil.which("mold"):
        quick.append("-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold")
    status, tail = command.run(["cmake", "--preset", preset, "-B", str(folder), *settings, *quick],
                               LOGS / f"configure-{name}.log", ROOT)
    if status == 0:
        chosen = ["--target", *targets] if targets else []
        status, tail = command.run(["cmake", "--build", str(folder), "-j", JOBS, *chosen],
                                   LOGS / f"build-{name}.log", ROOT, timeout=3600)
    if status == 0:
        tally.passed = 1
    else:
        tally.fail(f"build ({name})", tail)
    return tally


def step_layers(_options):
    tally = Tally()
    for name, flags in (("check_layers self-test", ["--self-test"]), ("check_layers", [])):
        status, tail = command.run([sys.executable, "tests/check_layers.py", *flags],
                                   LOGS / "layers.log", ROOT)
        if status == 0:
            tally.passed += 1
        else:
            tally.fail(name, tail)
    return tally


def step_format(_options):
    tally = Tally()
    files = [str(file.relative_to(ROOT)) for folder in ("tool", "tests", "examples")
             for file in sorted((ROOT / folder).rglob("*"))
             if file.suffix in (".cpp", ".h", ".c", ".hpp", ".cc")]
    log = LOGS / "format.log"
    status, tail = command.run(["clang-format", "--dry-run", "-Werror", *files], log, ROOT)
    bad = {}  # file: its first line that is not as it should be
    for line in log.read_text(errors="replace").splitlines():
        name, _, rest = line.partition(":")
        if name in files and name not in bad:
            bad[name] = f"line {rest.partition(':')[0]}; clang-format -i {name} repairs it"
    for name, text in bad.items():
        tally.fail(f"clang-format {name}", text)
    if status != 0 and not bad:
        tally.fail("clang-format", tail)
    tally.passed = len(files) - len(tally.failures)
    return tally


def step_build(_options):
    """The code is that of the preset; debug information that only a debugger would want is left out."""
    return build("release", "-DMLBCC_UNIT_TESTS=OFF", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG")


def unit_targets():
    """unit_rules for tests/unit/rules with at least one source."""
    return sorted({f"unit_{file.parent.name}" for file in (ROOT / "tests/unit").glob("*/*.cpp")})


def step_unit(_options):
    tally = build("asan", targets=unit_targets())
    if not tally.failures:
        tally.add(units.run(ROOT / "build" / "asan", ROOT, LOGS, "asan"))
    return tally


def step_runtime(options):
    return in_process("runtime", "tests/runtime/run.py", options)


def step_vm(options):
    return in_process("vm", "tests/vm/run.py", options)


def in_process(name, script, options):
    """A script that prints its tests as they end, and saves its Tally."""
    result = LOGS / f"{name}.json"
    result.unlink(missing_ok=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    chosen = [flag for pattern in options.k for flag in ("-k", pattern)]
    sys.stdout.flush()
    done = subprocess.run([sys.executable, ROOT / script, "--result", result, *chosen],
                          env={**os.environ, "MLBCC_BUILD": str(ROOT / "build" / "release")})
    if result.exists():
        return Tally.load(result)
    tally = Tally()
    tally.fail(f"{name} tests", f"{script} ended with status {done.returncode} and no result")
    return tally


def step_tidy(options):
    """Of each file by itself, with the warnings of a build that compiles them so."""
    tally = build("release", "-DCMAKE_UNITY_BUILD=OFF", "-DMLBCC_UNIT_TESTS=OFF",
                  targets=["mlbcc_perfetto"], folder="tidy")  # whose headers are generated
    if not tally.failures:
        tally.add(tidy.run(ROOT, ROOT / "build" / "tidy", options.tidy_seconds))
    return tally


# name, what it does, whether the steps behind it are of no use where it fails
STEPS = {
    "layers": (step_layers, "includes, file and function lengths (tests/check_layers.py)", False),
    "format": (step_format, "clang-format", False),
    "build": (step_build, "build/release", True),
    "runtime": (step_runtime, "the real tool on this kernel (tests/runtime)", False),
    "unit": (step_unit, "unit and golden tests, under AddressSanitizer and UBSan", False),
    "tidy": (step_tidy, "clang-tidy over tool/", False),
    "vm": (step_vm, "the real tool on other kernels, in virtual machines (tests/vm)", False),
}


def options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="STEP,...", help="run these steps only")
    parser.add_argument("--list", action="store_true", help="list the steps")
    parser.add_argument("-k", action="append", default=[], metavar="PATTERN",
                        help="run tests of runtime and vm whose name contains PATTERN")
    parser.add_argument("--tidy-seconds", type=float, default=900, metavar="S",
                        help="time limit for clang-tidy (default %(default)s)")
    chosen = parser.parse_args()
    chosen.steps = chosen.only.split(",") if chosen.only else list(STEPS)
    unknown = [step for step in chosen.steps if step not in STEPS]
    if unknown:
        parser.error(f"no step `{unknown[0]}`; the steps are {', '.join(STEPS)}")
    return chosen


def run_steps(chosen):
    total = Tally()
    for name in chosen.steps:
        function, meaning, needed = STEPS[name]
        print(f"== {name}: {meaning}", flush=True)
        begin = time.monotonic()
        tally = function(chosen)
        print(f"== {name}: {tally.line()} in {time.monotonic() - begin:.0f} s", flush=True)
        for test, text in tally.failures:
            print(f"FAILED {test}\n{indent(text)}", flush=True)
        total.add(tally)
        if needed and tally.failures:
            print(f"== the steps behind `{name}` cannot run without it", flush=True)
            break
    return total


def indent(text):
    return "\n".join("    " + line for line in str(text).splitlines()[-80:])


def main():
    chosen = options()
    if chosen.list:
        for name, (_, meaning, _) in STEPS.items():
            print(f"{name:8} {meaning}")
        return 0
    total = run_steps(chosen)
    print()
    for test, reason in total.skips:
        print(f"skipped {test}: {reason}")
    for test, _ in total.failures:
        print(f"failed  {test}")
    print(total.line(), flush=True)
    return 1 if total.failures or total.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
