#!/usr/bin/env python3
"""Finds words that are easily used in two meanings in messages, help and documents.

    scripts/words.py            each use, by word: to be read beside docs/glossary.md
    scripts/words.py --check    only uses that are none of the glossary's; exit status 1 if there are any
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')

# A word -> its forms, and those of its uses that docs/glossary.md has no meaning for.
WORDS = {
    "late": (r"late", r"(?<!--)(?<!come )(?<!comes )(?<!is )(?<!are )(?<!`)(?<!\| )\blate\b(?!-anywhere)|too\s+late"),
    "keep": (r"keeps?|kept|keeping",
             r"(keeps?|kept)\s[\w' ]*\bfrom\s(?!entry\b)|(keeps?|kept)\s+probes\s+off|what\s+to\s+keep|(keeps?|kept)\s+(up|on)\b"),
    "look": (r"looks?|looked|looking", r"\blook(s|ed|ing)?\s+(for|into|up|through|like|out)\b|someone\s+looks|compilers\s+look\b"),
    "span": (r"spans?", r"spans?\s+of\s+time|time\s+spans?"),
    "phase": (r"phases?", r"phases?\s+of\s+(the|a)\s+(trace|record|event)"),
    "load": (r"loaded|loads?|loading", r"(heavily|under)\s+load(ed)?\b|loaded\s+(machine|system|server)"),
}


def texts():
    """(file, line, text) of each document, and of literals with more than a word in them."""
    for path in sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]):
        yield path.relative_to(ROOT), 1, path.read_text()
    for path in sorted([*(ROOT / "tool").rglob("*.cpp"), *(ROOT / "tool").rglob("*.h")]):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line.lstrip().startswith(("//", "#include")):
                yield from ((path.relative_to(ROOT), number, text) for text in LITERAL.findall(line) if " " in text)


def uses(only_wrong):
    for path, first, text in texts():
        for word, (forms, wrong) in WORDS.items():
            pattern = wrong if only_wrong else rf"\b({forms})\b"
            for found in re.finditer(pattern, text, re.IGNORECASE):
                line = first + text.count("\n", 0, found.start())
                around = " ".join(text[max(0, found.start() - 50):found.end() + 50].split())
                yield f"{path}:{line}: {word}: {around}"


def main():
    only_wrong = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not only_wrong:
        print(__doc__, file=sys.stderr)
        return 2
    found = list(uses(only_wrong))
    if found:
        print("\n".join(found))
    return 1 if only_wrong and found else 0


if __name__ == "__main__":
    sys.exit(main())
