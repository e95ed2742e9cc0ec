"""clang-tidy over tool/. Nearly all of its time goes into the standard library's headers, so files
of a stage are checked together, as one text that includes them; those whose names collide are put
apart. A file that passed is not checked again until it, a header of ours that it includes, its
flags or .clang-tidy change: the cache outlives the checkout."""

import hashlib
import json
import os
import re
import shlex
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .tally import Tally

INCLUDE = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
NOISE = re.compile(r"^\d+ warnings? (generated|treated)|^Suppressed \d|^Use -header-filter")
PLACE = re.compile(r"^(/[^:\n]+):\d+:\d+: (?:error|warning|fatal error): ")
# The text made here includes .cpp files, and nothing else may (included_sources).
CHECKS = "--checks=-bugprone-suspicious-include"
TOGETHER = 10  # files


def run(root, build, limit, only=()):
    """Checks each file of tool/ that `build` compiles, or those of them that are named; files not
    reached in `limit` s are skips."""
    database = json.loads((build / "compile_commands.json").read_text())
    tool = str(root / "tool") + "/"
    entries = {e["file"]: e for e in database
               if e["file"].startswith(tool) and e["file"].endswith(".cpp")
               and (not only or e["file"].removeprefix(f"{root}/") in only)}
    tally = Tally()
    wanted = []
    for file in sorted(entries):
        if (cache_folder() / key(root, entries[file])).exists():
            tally.checked += 1
        else:
            wanted.append(file)
    checker = Checker(root, entries, time.monotonic() + limit)
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        for outcome in pool.map(checker.check, groups(wanted)):
            tally.add(outcome)
    return tally


def groups(files):
    """Lists of files of one folder, at most TOGETHER each and about equally long. A main() stands
    alone: beside what it calls, each exception of a library would be one that it lets escape."""
    folders = {}
    for file in files:
        folders.setdefault((Path(file).parent, Path(file).name == "main.cpp"), []).append(file)
    found = []
    for members in folders.values():
        count = -(-len(members) // TOGETHER)
        found += [members[i::count] for i in range(count)]
    return sorted(found, key=len, reverse=True)


class Checker:
    def __init__(self, root, entries, deadline):
        self.root, self.entries, self.deadline = root, entries, deadline

    def check(self, files):
        """A Tally with a case a file."""
        tally = Tally()
        todo = list(files)
        while todo:
            batch, todo = self.that_compile_together(todo)
            left = self.deadline - time.monotonic()
            found = self.tidy(batch, left) if left > 0 else None
            if found and len(batch) > 1:
                found = self.alone(found, batch)
            for file in batch:
                self.record(tally, file, found)
            if found:
                headers = "\n".join(text for place, text in found.items() if place not in batch)
                if headers:
                    tally.fail(f"clang-tidy {self.name(batch[0])} and others", headers)
        return tally

    def alone(self, found, batch):
        """What is found of each file by itself: a name may only hide one of another file."""
        for file in [file for file in batch if file in found]:
            del found[file]
            mine = self.tidy([file], self.deadline - time.monotonic())
            found.update({file: "the time limit was used up"} if mine is None else mine)
        return found

    def record(self, tally, file, found):
        if found is None:
            tally.skip(f"clang-tidy {self.name(file)}", "the time limit for clang-tidy was used up")
        elif file in found:
            tally.fail(f"clang-tidy {self.name(file)}", found[file])
        elif included_sources(file):
            tally.fail(f"clang-tidy {self.name(file)}", f"includes {included_sources(file)}")
        else:
            tally.checked += 1
            if not found:
                marker = cache_folder() / key(self.root, self.entries[file])
                marker.parent.mkdir(parents=True, exist_ok=True)
                marker.touch()

    def name(self, file):
        return Path(file).relative_to(self.root)

    def that_compile_together(self, files):
        """The first, with those of the others whose names do not collide; and the rest."""
        batch, rest = list(files), []
        while len(batch) > 1:
            text = self.with_clang(batch, lambda unit, flags:
                                   ["clang++", *flags, "-w", "-fsyntax-only", unit], 300)
            colliding = {found[1] for line in (text or "").splitlines()
                         if (found := PLACE.match(line)) and found[1] in batch[1:]}
            if text == "":
                break
            if not colliding:  # a mistake in a header, or none that names a file: one by one
                return batch[:1], batch[1:] + rest
            rest += [file for file in batch if file in colliding]
            batch = [file for file in batch if file not in colliding]
        return batch, rest

    def tidy(self, batch, left):
        """What clang-tidy says, by file; None where the time was over."""
        config = f"--config-file={self.root / '.clang-tidy'}"
        text = self.with_clang(batch, lambda unit, flags:
                               ["clang-tidy", "--quiet", CHECKS, config, unit, "--", *flags],
                               max(left, 60))
        if text is None:
            return None
        found, place = {}, ""
        for line in text.splitlines():
            if NOISE.match(line):
                continue
            place = match[1] if (match := PLACE.match(line)) else place
            found[place] = found.get(place, "") + line + "\n"
        return found

    def with_clang(self, batch, command, limit):
        """The output of a command on one text that includes the files: "" where it succeeds."""
        entry = self.entries[batch[0]]
        flags = shlex.split(entry["command"]) if "command" in entry else entry["arguments"]
        with tempfile.TemporaryDirectory(prefix="mlbcc-tidy-") as folder:
            unit = Path(folder, "together.cpp")
            unit.write_text("".join(f'#include "{file}"\n' for file in batch))
            try:
                done = subprocess.run(command(str(unit), compile_flags(flags)), text=True,
                                      cwd=entry["directory"], stdin=subprocess.DEVNULL,
                                      capture_output=True, errors="replace", timeout=limit)
            except subprocess.TimeoutExpired:
                return None
        if done.returncode == 0:
            return ""
        return done.stdout + done.stderr or f"{done.args[0]} ended with {done.returncode}\n"


def compile_flags(arguments):
    """-D, -I, -W and their like of a compiler's command line."""
    kept, position = [], 0
    while position < len(arguments):
        word = arguments[position]
        if word in ("-isystem", "-include", "-iquote"):
            kept += arguments[position:position + 2]
            position += 1
        elif word.startswith(("-D", "-I", "-W", "-std", "-f")):
            kept.append(word)
        position += 1
    return kept


def included_sources(file):
    names = [name.decode() for name in INCLUDE.findall(Path(file).read_bytes())]
    return ", ".join(name for name in names if name.endswith(".cpp"))


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "mlbcc" / "clang-tidy"


def key(root, entry):
    """A name for all that the verdict on a file depends on."""
    digest = hashlib.sha256((root / ".clang-tidy").read_bytes())
    flags = shlex.split(entry["command"]) if "command" in entry else entry["arguments"]
    digest.update("\0".join(compile_flags(flags)).replace(str(root), "@").encode())
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
