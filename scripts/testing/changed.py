"""What a change can touch: from the files that changed to the steps and tests of `--changed`, by
tests/touches.txt and by what the sources of tool/ include."""

import re
import subprocess
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

KEYS = ("units", "runtime", "vm", "hand")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z_]+)/', re.MULTILINE)
ALWAYS = ("layers", "format", "scripts", "build")


class CannotSay(Exception):
    pass


@dataclass
class Plan:
    files: list = field(default_factory=list)
    uncovered: list = field(default_factory=list)  # files for which everything runs
    units: set = field(default_factory=set)    # folders of tests/unit
    runtime: set = field(default_factory=set)  # parts of names
    vm: set = field(default_factory=set)
    hand: set = field(default_factory=set)
    tidy: set = field(default_factory=set)     # sources

    def steps(self):
        chosen = list(ALWAYS)
        chosen += ["unit"] if self.units else []
        chosen += ["tidy"] if self.tidy else []
        chosen += ["vm"] if self.vm else []
        return chosen + (["quiet", "runtime"] if self.runtime else [])

    def said(self, base):
        """Lines: what changed, what runs, what is left out and why."""
        yield f"{len(self.files)} file{'s' * (len(self.files) != 1)} changed since {base}"
        if self.uncovered:
            yield f"everything runs: tests/touches.txt has no row for {', '.join(self.uncovered)}"
            return
        for what, rest, chosen, why in (
                ("unit tests", "the other unit tests", self.units, "no folder of tool/ that has some changed"),
                ("runtime tests", "the other runtime tests", self.runtime, "no row of what changed has one"),
                ("tests in virtual machines", "the other tests in virtual machines", self.vm,
                 "no row of what changed has one"),
                ("clang-tidy", "clang-tidy of all else", self.tidy, "no source of tool/ changed")):
            if not chosen:
                yield f"left out: {what}, since {why}"
                continue
            yield f"{what}: {', '.join(sorted(chosen))}"
            if "all" not in chosen:
                yield f"left out: {rest}"
        for what in sorted(self.hand):
            yield f"to be run by hand: {what}"


def read_table(text):
    """[(pattern, {"runtime": [...], ...})] of tests/touches.txt."""
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            rows.append((line.strip(), {key: [] for key in KEYS}))
            continue
        key, *words = line.split()
        if not rows or key not in KEYS:
            raise CannotSay(f"tests/touches.txt:{number}: no pattern, nor one of {', '.join(KEYS)}: {line.strip()}")
        rows[-1][1][key] += [" ".join(words)] if key == "hand" else words
    return rows


def plan(files, root):
    """The Plan for changed files, paths below `root`."""
    table = read_table((root / "tests/touches.txt").read_text())
    includers = who_includes(root)
    made = Plan(sorted(files))
    for file in made.files:
        row = next((row for pattern, row in table if fnmatchcase(file, pattern)), None)
        if row is None:
            made.uncovered.append(file)
            continue
        made.units |= set(row["units"]) | units_of(file, includers)
        made.hand |= set(row["hand"])
        for key in ("runtime", "vm"):
            getattr(made, key).update(names_of(file, row[key]))
    made.units &= {path.name for path in (root / "tests/unit").iterdir() if any(path.glob("*.cpp"))}
    made.tidy = to_tidy(made.files, root)
    return made


def names_of(file, words):
    """Parts of tests' names: `test_late` is not test_late_anywhere."""
    for word in words:
        word = PurePosixPath(file).stem if word == "itself" else word
        yield word if "." in word or word == "all" else word + "."


def units_of(file, includers):
    parts = PurePosixPath(file).parts
    if parts[:2] == ("tests", "unit"):
        return {parts[2]} if len(parts) > 3 else set(includers)  # what they share
    if parts[0] != "tool" or len(parts) < 3:
        return set()
    return {parts[1], *includers.get(parts[1], ())}


def who_includes(root):
    """A folder of tool/ -> those with a source that includes a header of it."""
    found = {path.name: set() for path in (root / "tool").iterdir() if path.is_dir()}
    for file in sources(root):
        for name in INCLUDE.findall(file.read_text()):
            if name in found and file.parent.name != name:
                found[name].add(file.parent.name)
    return found


def sources(root):
    return [path for path in (root / "tool").rglob("*") if path.suffix in (".cpp", ".h")]


def to_tidy(files, root):
    """The .cpp files of tool/ that changed, and those beside a header that changed that include it."""
    found = set()
    for file in files:
        path = root / file
        if not file.startswith("tool/") or not path.exists():
            continue
        if path.suffix == ".cpp":
            found.add(file)
        elif path.suffix == ".h":
            line = f'#include "{path.relative_to(root / "tool")}"'
            found |= {str(one.relative_to(root)) for one in path.parent.glob("*.cpp") if line in one.read_text()}
    return found


def since(root, base):
    """(what it is compared with, the files that differ from it, new ones included). Without a base:
    what the remote has, or one commit ago."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=root, text=True, capture_output=True)

    if not base:
        upstream = git("rev-parse", "--abbrev-ref", "@{upstream}")
        base = upstream.stdout.strip() if upstream.returncode == 0 else "HEAD~1"
    differ = git("diff", "--name-only", "--no-renames", base, "--")
    if differ.returncode != 0:
        raise CannotSay(f"`{base}` is no commit: {differ.stderr.strip().splitlines()[0]}")
    new = git("ls-files", "--others", "--exclude-standard")
    return base, sorted({*differ.stdout.splitlines(), *new.stdout.splitlines()})
