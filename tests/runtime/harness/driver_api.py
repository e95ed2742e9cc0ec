"""The CUDA driver API as Clang's Python bindings read the toolkit's headers, and a C program that
calls each function once. Independent of how mlbcc reads them. Run by Debian's Python, which has the
bindings:

    driver_api.py INCLUDE LIBRARY OUT

writes OUT/client.c and OUT/calls.json: a list, in the order of the calls, of

    {"symbol": "cuMemAlloc_v2", "args": {"dptr": "0x...", "bytesize": 7},
     "left_out": {"location": "a structure by value"}, ...}

"args" is what a trace shows: integers as numbers (text above 2^53), enumerations by a list of the
constants of that value, text as text, pointers in hexadecimal.
"""

import json
import subprocess
import sys

from clang import cindex
from clang.cindex import CursorKind, TypeKind

DEFINES = ["-D__CUDA_API_VERSION_INTERNAL=1"]
HEADERS = ("cuda.h", "cudaProfiler.h")
SIGNED = {TypeKind.SCHAR, TypeKind.SHORT, TypeKind.INT, TypeKind.LONG, TypeKind.LONGLONG}
UNSIGNED = {TypeKind.UCHAR, TypeKind.USHORT, TypeKind.UINT, TypeKind.ULONG, TypeKind.ULONGLONG}
FLOATING = {TypeKind.FLOAT, TypeKind.DOUBLE}
EXACT = 1 << 53


def exports(library):
    text = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                          check=True).stdout
    rows = [line.split() for line in text.splitlines() if " T " in line]
    return {name.split("@")[0]: address for address, _, name in rows if name.startswith("cu")}


def functions(include):
    text = "".join(f"#include <{header}>\n" for header in HEADERS)
    unit = cindex.Index.create().parse("api.c", args=[f"-I{include}", *DEFINES],
                                       unsaved_files=[("api.c", text)])
    errors = [str(d) for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    assert not errors, errors
    return {cursor.spelling: cursor for cursor in unit.cursor.get_children()
            if cursor.kind == CursorKind.FUNCTION_DECL and cursor.spelling.startswith("cu")}


def distinct(seed, bits, signed):
    """A value of that width which no other seed has (while the width allows), its top bits used."""
    value = (seed * 0x9E3779B97F4A7C15 + 0x1234567) % (1 << bits)
    return value - (1 << bits) if signed and value >= 1 << (bits - 1) else value


def number(value):
    return value if abs(value) <= EXACT else str(value)


def address(seed):
    return 0x7000_0000_0000 + seed * 0x1008


def named_like_pointer(kind):
    """Whether some typedef on the way is called ..ptr or ..hex, as CUdeviceptr is."""
    while kind.kind in (TypeKind.TYPEDEF, TypeKind.ELABORATED):
        if kind.kind == TypeKind.ELABORATED:
            kind = kind.get_named_type()
            continue
        if kind.spelling.replace("const ", "").endswith(("ptr", "hex")):
            return True
        kind = kind.get_declaration().underlying_typedef_type
    return False


def constants(kind):
    return [(c.spelling, c.enum_value) for c in kind.get_declaration().get_children()
            if c.kind == CursorKind.ENUM_CONSTANT_DECL]


def integer(kind, seed):
    value = distinct(seed, kind.get_canonical().get_size() * 8, kind.get_canonical().kind in SIGNED)
    text = f"({kind.spelling}){value % (1 << 64)}ull"
    if named_like_pointer(kind):
        return text, hex(value % (1 << 64))
    return text, number(value)


def pointer(kind, seed):
    pointee = kind.get_canonical().get_pointee()
    if pointee.is_const_qualified() and pointee.kind in (TypeKind.CHAR_S, TypeKind.CHAR_U):
        text = f"text {seed:x}"
        return json.dumps(text), text
    return f"(void*){address(seed):#x}ul", hex(address(seed))


def argument(kind, seed):
    """(the argument in C, what a trace shows, why it shows nothing)"""
    canonical = kind.get_canonical()
    if canonical.kind in SIGNED | UNSIGNED:
        return *integer(kind, seed), None
    if canonical.kind == TypeKind.ENUM:
        all_constants = constants(canonical)
        name, value = all_constants[seed % len(all_constants)]
        return name, [other for other, same in all_constants if same == value], None
    if canonical.kind == TypeKind.POINTER:
        return *pointer(kind, seed), None
    if canonical.kind in FLOATING:
        return f"{seed}.5f", None, "floating point"
    if canonical.kind == TypeKind.RECORD:
        return f"*({kind.spelling}*)filler", None, "a structure by value"
    raise AssertionError(f"what is {kind.spelling} ({canonical.kind})?")


def call(name, cursor, seed):
    shown, left_out, texts = {}, {}, []
    for at, parameter in enumerate(cursor.get_arguments()):
        text, value, why_not = argument(parameter.type, seed + at)
        texts.append(text)
        if why_not is None:
            shown[parameter.spelling] = value
        else:
            left_out[parameter.spelling] = why_not
    return f"    {name}({', '.join(texts)});", {"symbol": name, "args": shown, "left_out": left_out}


def main(include, library, out):
    declared, exported = functions(include), exports(library)
    lines, calls = [], []
    for seed, name in enumerate(sorted(exported)):
        if name not in declared:
            calls.append({"symbol": name, "undeclared": True})
            continue
        line, said = call(name, declared[name], 16 * (seed + 1))
        lines.append(line)
        calls.append({**said, "result": declared[name].result_type.spelling})
    with open(f"{out}/client.c", "w") as file:
        file.write("".join(f"#include <{header}>\n" for header in HEADERS))
        file.write("static const unsigned char filler[4096];\n\nint main(void) {\n")
        file.write("\n".join(lines) + "\n    return 0;\n}\n")
    with open(f"{out}/calls.json", "w") as file:
        json.dump({"calls": calls, "addresses": exported}, file, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
