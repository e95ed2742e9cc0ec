#!/usr/bin/env python3
"""Gets what tests/NAME/package.json asks for into build/NAME, from npm: nothing where it is there already; and the
programs of tests/NAME beside it.
Where that cannot be had, prints why, and the exit status is 1.

    npm_install.py NAME PROGRAM...    with Debian's packages that the tests need, too: chromium
"""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def install(name, programs):
    """Why it cannot be had, or None."""
    for program in (*programs, "node", "npm"):
        if shutil.which(program) is None:
            return f"{program} is not installed (Debian's package {'nodejs' if program == 'node' else program})"
    kept = HERE.parent / "build" / name
    kept.mkdir(parents=True, exist_ok=True)
    wanted, stamp = (HERE / name / "package.json").read_bytes(), kept / "package.json"
    with open(kept / "lock", "w") as lock:  # tests run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        for program in (HERE / name).glob("*.mjs"):
            fresh = shutil.copy(program, kept / f".{program.name}")
            os.replace(fresh, kept / program.name)  # another test may run it
        if (kept / "node_modules").is_dir() and stamp.exists() and stamp.read_bytes() == wanted:
            return None
        stamp.write_bytes(wanted)
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"], cwd=kept,
                              capture_output=True, text=True, timeout=300, check=False)
        if done.returncode == 0:
            return None
        stamp.unlink()
        return f"npm cannot install it: {done.stderr[-300:]}"


if __name__ == "__main__":
    reason = install(sys.argv[1], sys.argv[2:])
    if reason:
        print(reason)
    sys.exit(1 if reason else 0)
