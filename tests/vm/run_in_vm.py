#!/usr/bin/env python3
"""Runs one command as root in a virtual machine with another kernel, in the current folder.

    tests/vm/run_in_vm.py [--kernel 6.1] [--arch arm64] [--limit 600] -- COMMAND [ARG]...

Its output and its exit status are the command's; 125: the virtual machine failed.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from virtual import KERNELS, PROCESSORS, VM_FAILED, Unavailable, fetch, run, why_not


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", choices=KERNELS, default="6.12", help="default %(default)s")
    parser.add_argument("--arch", choices=PROCESSORS, default="amd64", help="default %(default)s")
    parser.add_argument("--limit", type=float, default=600, metavar="S", help="seconds at most")
    parser.add_argument("command", nargs="+", metavar="COMMAND")
    options = parser.parse_args()
    processor = PROCESSORS[options.arch]
    try:
        if (reason := why_not(processor)) is not None:
            raise Unavailable(reason)
        kernel = fetch(options.kernel, processor)
    except Unavailable as reason:
        print(f"run_in_vm: {reason}", file=sys.stderr)
        return VM_FAILED
    with tempfile.TemporaryDirectory(prefix="mlbcc-vm-") as job:
        return run(kernel, options.command, [Path.cwd()], Path(job), {},
                   lambda line: print(line, flush=True), options.limit)


if __name__ == "__main__":
    sys.exit(main())
