"""The steps of the test run: each maps the options to a Tally."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import command, tidy, units
from .tally import Tally

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "build" / "logs"
JOBS = str(os.cpu_count() or 1)
# What includes a precompiled header is kept by ccache only so.
CACHED = {"CCACHE_SLOPPINESS": "pch_defines,time_macros,include_file_mtime,include_file_ctime"}


def build(preset, *settings, targets=(), folder=None):
    """Configures and builds a preset, in a folder of its name or another."""
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
                                   LOGS / f"build-{name}.log", ROOT, env=CACHED, timeout=3600)
    if status != 0:
        tally.fail(f"build ({name})", tail)
    return tally


def step_layers(_options):
    tally = Tally()
    status, tail = command.run([sys.executable, "tests/check_layers.py"], LOGS / "layers.log", ROOT)
    if status != 0:
        tally.fail("check_layers", tail)
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
    tally.checked = len(files) - len(tally.failures)
    return tally


def step_scripts(_options):
    return in_process("scripts", "tests/scripts/run.py")


def step_build(_options):
    """The code is that of the preset; debug information that only a debugger would want is left out."""
    return build("release", "-DMLBCC_UNIT_TESTS=OFF", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG")


def unit_targets():
    """unit_rules for tests/unit/rules with at least one source."""
    return sorted({f"unit_{file.parent.name}" for file in (ROOT / "tests/unit").glob("*/*.cpp")})


def step_unit(options):
    targets = [f"unit_{name}" for name in sorted(options.units)] or unit_targets()
    tally = build("asan", targets=targets)
    if not tally.failures:
        tally.add(units.run(ROOT / "build" / "asan", ROOT, LOGS, "asan", targets=targets))
    return tally


def step_quiet(options):
    return runtime("quiet", "quiet", options)


def step_runtime(options):
    return runtime("runtime", "wide", options)


def runtime(name, lane, options):
    flags = ["--thorough"] if options.thorough else []
    return in_process(name, "tests/runtime/run.py", "--lane", lane, "--repeat", str(options.repeat),
                      *flags, *patterns(options.k or options.runtime))


def step_vm(options):
    if options.vm and not options.k:
        flags = ["--kernel", "6.1", "--kernel", "7.3", *patterns(options.vm)]
    else:
        flags = patterns(options.k) if options.thorough or options.k else ["--short"]
    return in_process("vm", "tests/vm/run.py", *flags)


def patterns(names):
    """The options that choose tests by parts of their names; `all` is all of them."""
    return [] if "all" in names else [flag for name in sorted(names) for flag in ("-k", name)]


def in_process(name, script, *flags):
    """A script that prints its tests as they end, and saves its Tally."""
    result = LOGS / f"{name}.json"
    result.unlink(missing_ok=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    done = subprocess.run([sys.executable, ROOT / script, "--result", result, *flags],
                          env={**os.environ, "MLBCC_BUILD": str(ROOT / "build" / "release")})
    if result.exists():
        return Tally.load(result)
    tally = Tally()
    tally.fail(f"{name} tests", f"{script} ended with status {done.returncode} and no result")
    return tally


def step_tidy(options):
    """Of each file by itself, with the warnings of a build that compiles them so."""
    tally = build("release", "-DCMAKE_UNITY_BUILD=OFF", "-DMLBCC_UNIT_TESTS=OFF",
                  targets=["mlbcc_protos"], folder="tidy")  # whose headers are generated
    if not tally.failures:
        tally.add(tidy.run(ROOT, ROOT / "build" / "tidy", options.tidy_seconds, options.tidy))
    return tally


@dataclass(frozen=True)
class Step:
    run: Callable
    meaning: str
    needed: bool = False  # the steps behind it are of no use where it fails
    has_tests: bool = True
    is_beside: bool = False  # goes on, niced, while those behind it run


STEPS = {
    "layers": Step(step_layers, "includes, sizes of folders, files and functions (tests/check_layers.py)",
                   has_tests=False),
    "format": Step(step_format, "clang-format", has_tests=False),
    "scripts": Step(step_scripts, "what runs the tests (tests/scripts)"),
    "build": Step(step_build, "build/release", needed=True, has_tests=False),
    "quiet": Step(step_quiet, "the real tool on this kernel (tests/runtime): tests that run alone"),
    "unit": Step(step_unit, "unit and golden tests, under AddressSanitizer and UBSan", is_beside=True),
    "tidy": Step(step_tidy, "clang-tidy over tool/", has_tests=False, is_beside=True),
    "vm": Step(step_vm, "the real tool on Linux 6.1 and 7.3, in virtual machines (tests/vm)",
               is_beside=True),
    "runtime": Step(step_runtime, "the other tests of tests/runtime, two at a time"),
}
