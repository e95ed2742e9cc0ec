#!/usr/bin/env python3
"""Compiles and loads rule files, alone and two at a time: by hand, for it takes long.

    MLBCC_BUILD=build/release tests/random_rules.py --files 1000      # at random, of the seeds from 0 on
    MLBCC_BUILD=build/release tests/random_rules.py --pairs           # every pair of those that ship

Ends with 0 where all load; else what is wrong is printed, with the seed or the pair.
"""

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/runtime"))

from harness import MLBCC, target  # noqa: E402
from harness.machine import CUDA_SIM  # noqa: E402
from harness.random_rules import random_rules  # noqa: E402

HEADER = ROOT / "tests/runtime/targets/target.h"


def check(what, *files):
    command = [str(MLBCC), "check", "--compile", "--no-cache"]
    for file in files:
        command += ["--rules", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM)})
    return f"{what}:\n{done.stderr}" if done.returncode else None


def jobs(options, folder):
    for seed in range(options.first, options.first + options.files):
        file = folder / f"{seed}.rules"
        file.write_text(random_rules(seed, target("libtarget.so"), HEADER))
        yield f"seed {seed}", file
    if options.pairs:
        for pair in itertools.combinations(sorted((ROOT / "rules").glob("*.rules")), 2):
            yield " and ".join(file.name for file in pair), *pair


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=0, help="how many at random")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: %(default)s)")
    parser.add_argument("--pairs", action="store_true")
    options = parser.parse_args()
    wrong = done = 0
    with tempfile.TemporaryDirectory(prefix="mlbcc-random-") as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        for fault in pool.map(lambda job: check(*job), jobs(options, Path(folder))):
            done += 1
            if fault is not None:
                wrong += 1
                print(fault, flush=True)
            if done % 50 == 0:
                print(f"{done} checked, {wrong} wrong", file=sys.stderr, flush=True)
    print(f"{done} checked, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
