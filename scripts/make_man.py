#!/usr/bin/env python3
"""Makes the manual page from what `mlbcc --help` says and from docs/, so that they cannot differ.

    scripts/make_man.py build/release/mlbcc >mlbcc.1

Sections of docs/language.md and docs/events.md follow the options: NAME, SYNOPSIS, DESCRIPTION,
SUBCOMMANDS, OPTIONS, RULES, TRACE, FILES, EXIT STATUS.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPTION = re.compile(r"^  (-\S.*?|\w+)(?:  +(\S.*))?$")


HEADING = re.compile(r"[A-Z][\w ]*:")


def escape(text):
    """Plain text as roff: backslashes, and dots and quotes at the beginning of a line."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def inline(text):
    """Markdown within a line: `code` in bold, *word* in italics, links by their text."""
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    parts = re.split(r"(`[^`]+`)", text)
    out = ""
    for part in parts:
        if part.startswith("`") and len(part) > 1:
            out += "\\fB" + escape(part[1:-1]).lstrip("\n") + "\\fR"
        else:
            out += re.sub(r"(?<!\w)\*([^*\s][^*]*)\*(?!\w)", r"\\fI\1\\fR", escape(part))
    return out


def verbatim(lines):
    return [".PP", ".nf", ".RS 4", *[escape(line) or "\\&" for line in lines], ".RE", ".fi"]


def help_parts(text):
    """The help text cut up: (intro lines, {section: lines}, footer lines)."""
    lines = text.splitlines()
    cut = next(i for i, line in enumerate(lines) if HEADING.fullmatch(line))
    sections, footer, current = {}, [], None
    for line in lines[cut:]:
        if HEADING.fullmatch(line):
            current = sections.setdefault(line[:-1], [])
        elif line and not line.startswith(" ") or footer:
            footer.append(line)
        elif current is not None and line:
            current.append(line)
    return lines[:cut], sections, footer


def definitions(lines):
    """`  -q,--quiet      No summary` as tagged paragraphs; a long name has its text on the next line."""
    out = []
    for line in lines:
        match = OPTION.match(line)
        if match:
            out += [".TP", "\\fB" + escape(re.sub(r"^(-\w),", r"\1, ", match.group(1))) + "\\fR"]
            if match.group(2):
                out.append(escape(match.group(2)))
        else:
            out.append(escape(line.strip()))
    return out


def paragraphs(lines):
    """Text with indented examples."""
    out, block = [], []
    for line in [*lines, ""]:
        if line.startswith("  "):
            block.append(line[2:])
            continue
        if block:
            out += verbatim(block)
            block = []
        out.append(escape(line) if line else ".PP")
    return out


def unwrapped(text):
    """Lines of a document, each paragraph and each point of a list in one."""
    lines, is_code, goes_on = [], False, False
    for line in text.splitlines():
        is_fence = line.startswith("```")
        is_text = bool(line) and not is_code and not is_fence and not line.startswith(("#", "|"))
        if is_text and goes_on and not line.startswith("* "):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
        is_code ^= is_fence
        goes_on = is_text
    return lines


def markdown(text):
    """A document's body as roff: headings, fenced blocks, lists, tables and paragraphs."""
    out, fence = [], None
    for line in unwrapped(text):
        if line.startswith("```"):
            if fence is None:
                fence = []
            else:
                out += verbatim(fence)
                fence = None
        elif fence is not None:
            fence.append(line)
        elif line.startswith("#"):
            out += [".SS " + inline(line.lstrip("# "))]
        elif line.startswith("| ") and not set(line) <= set("| -"):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            out += [".TP", inline(cells[0]), inline(" ".join(cells[1:]))]
        elif line.startswith("* "):
            out += [".IP \\(bu 2", inline(line[2:])]
        elif not line.startswith("|"):
            out.append(inline(line) if line else ".PP")
    return out


def document(name):
    """A document of docs/ without its title."""
    return markdown((ROOT / "docs" / name).read_text().split("\n", 1)[1])


def page(help_text, version):
    intro, sections, footer = help_parts(help_text)
    blank = intro.index("")
    usage = [line.replace("Usage: ", "").strip() for line in intro[:blank]]
    about = intro[blank:]
    examples = [line for line in about if line.startswith("  ")]
    sentences = [line for line in about if line and not line.startswith("  ")]
    exit_at = next(i for i, line in enumerate(footer) if "The events go" in line)
    return "\n".join([
        f'.TH MLBCC 1 "" "{escape(version)}" "User Commands"', ".nh", ".ad l",
        ".SH NAME", "mlbcc \\- trace what programs ask of libraries",
        ".SH SYNOPSIS", ".nf", *[f".B {escape(line)}" for line in usage], ".fi",
        ".SH DESCRIPTION", *[escape(line) for line in sentences], *verbatim([e[2:] for e in examples]),
        *paragraphs(footer[:exit_at]),
        ".SH SUBCOMMANDS", *definitions(sections["Subcommands"]),
        ".SH OPTIONS", *[line for heading, lines in sections.items() if heading != "Subcommands"
                         for line in (f".SS {heading}", *definitions(lines))],
        ".SH RULES", *document("language.md"),
        ".SH TRACE", *document("events.md"),
        ".SH EXIT STATUS", *paragraphs(footer[exit_at:]), ""])


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    tool = [str(Path(sys.argv[1]).resolve())]
    help_text = subprocess.run([*tool, "--help"], capture_output=True, text=True, check=True).stdout
    version = subprocess.run([*tool, "--version"], capture_output=True, text=True, check=True).stdout
    sys.stdout.write(page(help_text, version.strip()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
