"""The unit tests of one build: ctest runs the programs, GoogleTest's own files give the cases."""

import shutil
import xml.etree.ElementTree as xml

from . import command
from .tally import Tally


def run(build, cwd, logs, label, limit=300, env=None, targets=()):
    """All ctest tests of the build folder `build`, as one Tally with a case a GoogleTest case; one
    may take `limit` s. With `targets`, of these programs only."""
    results = build / "test-results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir(parents=True)
    junit = results / "ctest.xml"
    chosen = ["-R", f"^({'|'.join(targets)})$"] if targets else []
    status, tail = command.run(
        ["ctest", "--test-dir", str(build), "--output-on-failure", "-j2", "--timeout", str(limit),
         "--output-junit", str(junit), *chosen],
        logs / f"ctest-{label}.log", cwd,
        env={"GTEST_OUTPUT": f"xml:{results}/", "ASAN_OPTIONS": "detect_leaks=1",
             "UBSAN_OPTIONS": "print_stacktrace=1", **(env or {})},
        timeout=6 * limit)
    tally = Tally()
    if not junit.exists():
        tally.fail(f"ctest ({label})", tail)
        return tally
    for case in xml.parse(junit).getroot().iter("testcase"):
        tally.add(of_program(case, results, label))
    if status != 0 and not tally.failures:
        tally.fail(f"ctest ({label})", tail)
    return tally


def of_program(case, results, label):
    """One ctest test: its GoogleTest cases where it wrote them, else the test itself."""
    name = case.get("name")
    ended_well = case.get("status") == "run"
    cases = Tally()
    file = results / f"{name}.xml"
    if file.exists():
        cases = read_gtest(file, label)
    elif ended_well:
        cases.passed = 1
    if not ended_well and not cases.failures:
        cases.fail(f"{name} ({label})", case.findtext("system-out") or case.get("status"))
    return cases


def read_gtest(file, label):
    """GoogleTest's XML: `<testcase name= classname=>` with `<failure>` or `<skipped>` inside."""
    tally = Tally()
    for case in xml.parse(file).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')} ({label})"
        tally.took(name, float(case.get("time") or 0))
        failures = case.findall("failure")
        skipped = case.find("skipped")
        if failures:
            tally.fail(name, "\n".join(f.get("message") or "" for f in failures))
        elif skipped is not None or case.get("result") == "skipped":
            reason = (skipped.get("message") if skipped is not None else "") or "no reason given"
            tally.skip(name, reason.strip().splitlines()[-1])
        elif case.get("status") == "notrun":
            tally.skip(name, "disabled in the source")
        else:
            tally.passed += 1
    return tally
