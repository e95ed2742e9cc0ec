#!/usr/bin/env python3
"""Measures each row of the table in docs/benchmarks.md.

    tests/bench/run.py                           all rows, printed
    tests/bench/run.py --only push,count         some of them
    tests/bench/run.py --write docs/benchmarks.md     (with --only: those rows)

Needs root, scripts/setup.sh --bench and a release build (MLBCC_BUILD, default build/release). Each
figure is the median of --repetitions interleaved repetitions (default 7).
"""

import argparse
import os
import platform
import sys
from pathlib import Path

import measure
import rows_accuracy
import rows_cost
import rows_gpu
import rows_kernel
import rows_profile
import rows_serve
import rows_speed
import rows_view

BEGIN, END = "<!-- table: made by tests/bench/run.py -->", "<!-- end of table -->"


def order(rows):
    wanted = ["attach", "start", "start_again", "push", "dear", "count", "own_stack", "short_stacks", "stream", "accounting", "memory", "quick", "other",
              "syscalls", "off_cpu", "profile", "serve", "serve_long", "accuracy_flask", "accuracy_flask_marker", "accuracy_fast", "accuracy_fast_marker", "report", "convert", "page",
              "step_cuda", "step_pid", "step_launches", "step_counts", "step_runtime"]
    return sorted(rows, key=lambda row: wanted.index(row.key) if row.key in wanted else len(wanted))


def options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="ROW,...", help="these rows only")
    parser.add_argument("--slow", action="store_true", help="with bpftrace 0.17 on 637 functions (minutes)")
    parser.add_argument("--repetitions", type=int, default=7, metavar="N")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the table into this document")
    chosen = parser.parse_args()
    rows = order(rows_speed.ROWS + rows_cost.ROWS + rows_kernel.ROWS + rows_profile.ROWS + rows_serve.ROWS + rows_gpu.ROWS +
                 rows_accuracy.ROWS + rows_view.ROWS +
                 (rows_speed.SLOW if chosen.slow else []))
    keys = chosen.only.split(",") if chosen.only else [row.key for row in rows]
    unknown = set(keys) - {row.key for row in rows}
    if unknown:
        parser.error(f"no row {', '.join(unknown)}; the rows are {', '.join(row.key for row in rows)}")
    chosen.rows = [row for row in rows if row.key in keys]
    return chosen


def machine():
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    virtual = ", virtual machine" if "hypervisor" in Path("/proc/cpuinfo").read_text() else ""
    return f"{os.cpu_count()} x {model}{virtual}, Linux {platform.release()}"


def table(measured, repetitions):
    lines = [BEGIN, "",
             f"{machine()}; medians of {repetitions} interleaved repetitions.", "",
             "| what | must reach | measured | |", "| --- | --- | --- | --- |"]
    for row, result in measured:
        lines.append(f"| {row.what} | {row.must} | {result.shown} | {'' if result.met else 'not met'} |")
    lines += ["", "In detail:", ""]
    lines += [f"* {row.what}: {result.details}" for row, result in measured if result.details]
    return "\n".join([*lines, "", END])


def write(document, text):
    old = document.read_text()
    before, rest = old.split(BEGIN, 1)
    document.write_text(before + text + rest.split(END, 1)[1])


def write_rows(document, text, rows):
    """Only these rows, in the place of what the document has of them, or behind all that it has."""
    def starts(row):
        return f"| {row.what} |", f"* {row.what}: "
    new = {start: line for row in rows for start in starts(row)
           for line in text.splitlines() if line.startswith(start)}
    lines = [next((line for start, line in new.items() if old.startswith(start)), old)
             for old in document.read_text().splitlines()]
    for start, line in new.items():
        if not any(old.startswith(start) for old in lines):
            last = max(i for i, old in enumerate(lines) if old.startswith(start[0]) and i < lines.index(END))
            lines.insert(last + 1, line)
    document.write_text("\n".join(lines) + "\n")


def main():
    chosen = options()
    measure.SCRATCH.mkdir(parents=True, exist_ok=True)
    measured = []
    for row in chosen.rows:
        print(f"{row.key}: {row.what}", flush=True)
        result = row.measure(chosen.repetitions)
        print(f"    {result.shown} (must: {row.must or 'nothing'}){'' if result.met else ': NOT MET'}")
        print(f"    {result.details}", flush=True)
        measured.append((row, result))
    text = table(measured, chosen.repetitions)
    if chosen.write:
        if chosen.only:
            write_rows(chosen.write, text, chosen.rows)
        else:
            write(chosen.write, text)
    else:
        print(text)
    return 0 if all(result.met for _, result in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
