#!/usr/bin/env python3
"""Runs one command as root in a virtual machine with another kernel, in the current folder.

    tests/vm/run_in_vm.py [--kernel 6.1] [--limit 600] -- COMMAND [ARG]...

Its output and its exit status are the command's; 125: the virtual machine failed.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from virtual import KERNELS, VM_FAILED, Unavailable, fetch, run, why_not


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", choices=KERNELS, default="6.12", help="default %(default)s")
    parser.add_argument("--limit", type=float, default=600, metavar="S", help="seconds at most")
    parser.add_argument("command", nargs="+", metavar="COMMAND")
    options = parser.parse_args()
    try:
        if why_not() is not None:
            raise Unavailable(why_not())
        kernel = fetch(options.kernel)
    except Unavailable as reason:
        print(f"run_in_vm: {reason}", file=sys.stderr)
        return VM_FAILED
    with tempfile.TemporaryDirectory(prefix="mlbcc-vm-") as job:
        return run(kernel, options.command, [Path.cwd()], Path(job), {},
                   lambda line: print(line, flush=True), options.limit)


if __name__ == "__main__":
    sys.exit(main())
