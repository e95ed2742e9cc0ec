"""clang-tidy over tool/, two files at a time. A file that passed is not checked again until it, a
header of ours that it includes, its flags or .clang-tidy change: the cache outlives the checkout."""

import hashlib
import json
import os
import re
import shlex
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .tally import Tally

INCLUDE = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
NOISE = re.compile(r"^\d+ warnings? (generated|treated)|^Suppressed \d|^Use -header-filter")


def run(root, build, limit):
    """Checks each file of tool/ that `build` compiles; files not reached in `limit` s are skips."""
    database = json.loads((build / "compile_commands.json").read_text())
    tool = str(root / "tool") + "/"
    entries = {e["file"]: e for e in database if e["file"].startswith(tool)}
    deadline = time.monotonic() + limit
    tally = Tally()
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        jobs = [(file, pool.submit(check, root, build, entries[file], deadline))
                for file in sorted(entries)]
        for file, job in jobs:
            record(tally, f"clang-tidy {Path(file).relative_to(root)}", job.result())
    return tally


def record(tally, name, outcome):
    status, text = outcome
    if status == "late":
        tally.skip(name, text)
    elif status == "bad":
        tally.fail(name, text)
    else:
        tally.passed += 1


def check(root, build, entry, deadline):
    """("ok" | "bad" | "late", text) for one file."""
    marker = cache_folder() / key(root, entry)
    if marker.exists():
        return "ok", ""
    left = deadline - time.monotonic()
    if left <= 0:
        return "late", "the time limit for clang-tidy was used up before this file"
    try:
        done = subprocess.run(["clang-tidy", "--quiet", "-p", str(build), entry["file"]],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=max(left, 60))
    except subprocess.TimeoutExpired:
        return "late", "the time limit for clang-tidy was used up during this file"
    if done.returncode == 0:
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
        return "ok", ""
    text = (done.stdout + done.stderr).splitlines()
    return "bad", "\n".join(line for line in text if not NOISE.match(line))


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "mlbcc" / "clang-tidy"


def key(root, entry):
    """A name for all that the verdict on a file depends on."""
    digest = hashlib.sha256((root / ".clang-tidy").read_bytes())
    flags = shlex.split(entry["command"]) if "command" in entry else entry["arguments"]
    digest.update("\0".join(flags).replace(str(root), "@").encode())
    for file in sorted(closure(root, Path(entry["file"]))):
        digest.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def closure(root, file):
    """`file` and each file of ours that it includes, directly or not."""
    seen, todo = set(), [file]
    while todo:
        current = todo.pop()
        if current in seen:
            continue
        seen.add(current)
        for name in INCLUDE.findall(current.read_bytes()):
            for folder in (current.parent, root / "tool"):
                found = (folder / name.decode()).resolve()
                if found.is_file() and root in found.parents:
                    todo.append(found)
                    break
    return seen
