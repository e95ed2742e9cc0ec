#!/usr/bin/env python3
"""Gets what drives Chromium into build/page, from npm: nothing where it is there already. Where that
cannot be had, prints why, and the exit status is 1."""

import fcntl
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
KEPT = HERE.parent.parent / "build" / "page"


def install():
    """Why it cannot be had, or None."""
    for program, package in (("chromium", "chromium"), ("node", "nodejs"), ("npm", "npm")):
        if shutil.which(program) is None:
            return f"{program} is not installed (Debian's package {package})"
    KEPT.mkdir(parents=True, exist_ok=True)
    wanted, stamp = (HERE / "package.json").read_bytes(), KEPT / "package.json"
    with open(KEPT / "lock", "w") as lock:  # tests run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (KEPT / "node_modules").is_dir() and stamp.exists() and stamp.read_bytes() == wanted:
            return None
        stamp.write_bytes(wanted)
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"], cwd=KEPT,
                              capture_output=True, text=True, timeout=300, check=False)
        if done.returncode == 0:
            return None
        stamp.unlink()
        return f"npm cannot install playwright-core: {done.stderr[-300:]}"


if __name__ == "__main__":
    reason = install()
    if reason:
        print(reason)
    sys.exit(1 if reason else 0)
