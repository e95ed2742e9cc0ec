#!/usr/bin/env python3
"""Writes rules/types/nvidia_controls.h and the classes of nvidia_names.h: names and numbers out of NVIDIA's
open-gpu-kernel-modules.

    scripts/nvidia_names.py CHECKOUT        a folder with its version.mk and src/common/sdk

Left out are what only the kernel's modules ask of each other (INTERNAL), and displays. Where several names have one
number, the one that is in the table stays, then the shortest. What the checkout does not have any more stays, too.
"""

import re
import sys
from pathlib import Path

TYPES = Path(__file__).resolve().parents[1] / "rules/types"
SDK = "src/common/sdk/nvidia/inc"
# Classes of displays and of what is attached to them, whose controls are left out; and none at all.
NOT_SHOWN = {0xffff, 0x0073, 0x0076, 0x30f1, 0x402c, 0x5070, 0x9010, 0xc370, 0xc372}
CONTROL = re.compile(r"#\s*define\s+(NV[0-9A-Z]*_CTRL_CMD_\w+)\s+\(?(0x[0-9a-fA-F]+)")
CLASS = re.compile(r"#\s*define\s+([A-Z][A-Z0-9]*_\w+)\s+\(?(0x[0-9a-fA-F]+)U?\)?\s*(?:/[/*].*)?$", re.M)
ENTRY = re.compile(r"^    (\w+) = (0x[0-9a-f]+),$", re.M)


def best(found, known):
    """{number: name}"""
    names = {}
    for name, number in found:
        names.setdefault(number, set()).add(name)
    return {number: next((name for name in sorted(all_, key=lambda n: (len(n), n)) if known.get(number) == name),
                         min(all_, key=lambda n: (len(n), n))) for number, all_ in sorted(names.items())}


def entries(text):
    return {int(number, 16): name for name, number in ENTRY.findall(text)}


def controls(folder):
    for file in sorted((folder / "ctrl").rglob("*.h")):
        for name, number in CONTROL.findall(file.read_text(errors="replace")):
            number = int(number, 16)
            is_message = name.endswith(("_MESSAGE_ID", "_CMD_NULL", "_INVALID"))
            if "_INTERNAL_" not in name and not is_message and number >> 16 not in NOT_SHOWN and number & 0xffff:
                yield name, number


def classes(folder):
    """A header of a class is called by its number: cl2080.h. Most define the class itself first."""
    for file in sorted((folder / "class").rglob("cl*.h")):
        of_file = re.match(r"cl([0-9a-f]{4})(?:_\w+)?(?:\.h|sw\.h)$", file.name)
        for name, number in CLASS.findall(file.read_text(errors="replace")):
            if name.endswith("_MESSAGE_ID"):
                continue
            if of_file and int(number, 16) == int(of_file[1], 16) and not name.startswith(f"NV{of_file[1].upper()}_"):
                yield name, int(number, 16)
    for name, number in CLASS.findall((folder / "nvos.h").read_text(errors="replace")):
        if name.startswith("NV01_") and int(number, 16) < 0x100:
            yield name, int(number, 16)


def enum(text, name, names, digits):
    """The text with the enum's entries replaced."""
    head, tail = text.split(f"enum {name} {{\n", 1)
    _, tail = tail.split("};\n", 1)
    body = "".join(f"    {of} = 0x{number:0{digits}x},\n" for number, of in sorted(names.items()))
    return f"{head}enum {name} {{\n{body}}};\n{tail}"


def main():
    checkout = Path(sys.argv[1])
    version = re.search(r"NVIDIA_VERSION = (\S+)", (checkout / "version.mk").read_text())[1]
    for file, name, digits, find in (("nvidia_controls.h", "nv_control", 8, controls), ("nvidia_names.h", "nv_class", 4, classes)):
        text = (TYPES / file).read_text()
        known = entries(text.split(f"enum {name} {{")[1].split("};")[0])
        found = best(find(checkout / SDK), known)
        moved = set(found.values())  # a name whose number is another one now
        kept = {number: of for number, of in known.items() if of not in moved}
        text = enum(text, name, kept | found, digits)
        (TYPES / file).write_text(re.sub(r"open-gpu-kernel-modules(?: [\d.]+)?,", f"open-gpu-kernel-modules {version},", text))


if __name__ == "__main__":
    main()
