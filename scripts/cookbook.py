#!/usr/bin/env python3
"""Runs the recipes of docs/cookbook.md and README.md: commands (```sh), and behind them what they print (```text).

    scripts/cookbook.py --tool build/release [--write] [-k WORD]

Compares what is printed with what the documents say: numbers, their units, addresses and the length of bars may differ, and a
line `...` stands for any number of lines. With --write, an empty text block gets what is printed. A block ```file NAME
before the commands is a file that they find. In the cookbook each heading has a recipe.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COOKBOOK = ROOT / "docs" / "cookbook.md"
DOCUMENTS = (COOKBOOK, ROOT / "README.md")
PART = re.compile(r"^###? (?P<title>[^\n]*)$|^```(?P<kind>\w+)(?: (?P<name>\S+))?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
TIMES = 60  # seconds for one recipe


@dataclass
class Recipe:
    title: str
    files: dict
    commands: str
    output: str
    place: tuple  # of the output, in the document's text

    def run(self, tool):
        """What the commands print on both streams."""
        variables = {**os.environ, "PATH": f"{tool}:/usr/local/bin:/usr/bin:/bin", "LD_LIBRARY_PATH": f"{tool}/examples/cuda_sim", "LC_ALL": "C",
                     "MLBCC_SOURCE": str(ROOT)}
        with tempfile.TemporaryDirectory(prefix="mlbcc-recipe-") as folder:
            for name, body in self.files.items():
                Path(folder, name).write_text(body)
            done = subprocess.run(["bash", "-ec", self.commands], cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace", timeout=TIMES, check=False)
            return done.stdout.replace(folder, "/tmp/here")


def shape(line):
    """A line without what differs from run to run."""
    line = re.sub(r"\b0x[0-9a-f]+|\d[\d.]*(?: \d{3})*", "0", line)
    line = re.sub(r"0 (?:ns|us|ms|s|B|KiB|MiB|GiB)\b", "0", line)
    line = re.sub(r"\b0 (value|call|event|time|request|thread|process)(?:es|s)\b", r"0 \1", line)
    line = re.sub(r"#+", "#", line)
    line = re.sub(r"--+", "-", line)
    return re.sub(r"\s+", " ", line).strip()


def difference(expected, printed):
    """None, or the first line of the document that is not printed where it should be."""
    rest = [shape(line) for line in printed.splitlines()]
    anywhere = False
    for line in expected.splitlines():
        if line.strip() == "...":
            anywhere = True
            continue
        wanted = shape(line)
        if anywhere and wanted in rest:
            rest = rest[rest.index(wanted) + 1:]
        elif not anywhere and rest and rest[0] == wanted:
            rest = rest[1:]
        else:
            return line
        anywhere = False
    return rest[0] if rest and not anywhere else None


def recipes(document):
    title, files, commands, lacking = "", {}, None, None
    for part in PART.finditer(document.read_text()):
        kind = part["kind"]
        if kind is None:
            if lacking:
                break
            title, files, commands = part["title"], {}, None
            lacking = title if document == COOKBOOK and part[0].startswith("### ") else None
        elif kind == "file":
            files[part["name"]] = part["body"]
        elif kind == "text" and commands is not None:
            yield Recipe(title, files, commands, part["body"], part.span("body"))
            lacking = None
        commands = part["body"] if kind == "sh" else None
    if lacking:
        raise SystemExit(f"{document.name}: `{lacking}` lacks its commands (```sh), or what they print (```text)")


def print_differences(document, options):
    """How many recipes print something else; with --write, what is printed goes to where nothing stands."""
    wrong, text = 0, document.read_text()
    for recipe in reversed([one for one in recipes(document) if options.k in one.title]):
        if options.write and recipe.output:
            continue
        printed = recipe.run(Path(options.tool).resolve())
        if options.write:
            text = text[:recipe.place[0]] + printed + text[recipe.place[1]:]
        elif (line := difference(recipe.output, printed)) is not None:
            wrong += 1
            print(f"{document.name}: {recipe.title}\n  differs at: {line}\n  printed:\n{printed}")
    if options.write:
        document.write_text(text)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=str(ROOT / "build" / "release"), help="the folder of mlbcc (default: %(default)s)")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("-k", default="", metavar="WORD", help="only recipes whose titles have it")
    options = parser.parse_args()
    wrong = sum(print_differences(document, options) for document in DOCUMENTS)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
