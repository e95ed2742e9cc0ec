"""The CUDA driver API as Clang's Python bindings read the toolkit's headers, and a C program that
calls each function once. Independent of how mlbcc reads them. Run by Debian's Python, which has the
bindings:

    driver_api.py INCLUDE LIBRARY OUT

writes OUT/client.c and OUT/calls.json: a list, in the order of the calls, of

    {"symbol": "cuMemAlloc_v2", "args": {"dptr": "0x...", "bytesize": 7},
     "left_out": {"location": "a structure by value"}, ...}

"args" is what a trace shows: integers as numbers (text above 2^53), enumerations by the constants of
that value (and the number itself), text as text, pointers in hexadecimal, null for what is left out.
"is_32_bit" says that the form has device pointers of CUDA 1 and 2.

And OUT/memory.c, OUT/memory.json for the functions with pointers: what is behind them is known, too.
"fields" are expressions of the rule language ("*dptr", "config->hStream") with the values there.
"""

import json
import subprocess
import sys

from clang import cindex
from clang.cindex import CursorKind, TypeKind

# All forms of a name are declared for the driver itself; what programs see has the parameters' names
# as documented, so it comes last.
READINGS = (["-D__CUDA_API_VERSION_INTERNAL=1"], ["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"], [])
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


def declared_in(include, defines):
    text = "".join(f"#include <{header}>\n" for header in HEADERS)
    unit = cindex.Index.create().parse("api.c", args=[f"-I{include}", *defines],
                                       unsaved_files=[("api.c", text)])
    errors = [str(d) for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    assert not errors, errors
    return {cursor.spelling: cursor for cursor in unit.cursor.get_children()
            if cursor.kind == CursorKind.FUNCTION_DECL and cursor.spelling.startswith("cu")}


def functions(include):
    found = {}
    for defines in READINGS:
        found.update(declared_in(include, defines))
    return found


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
        return name, {"constants": [c for c, same in all_constants if same == value],
                      "number": value}, None
    if canonical.kind == TypeKind.POINTER:
        return *pointer(kind, seed), None
    if canonical.kind in FLOATING:
        return f"{seed}.5f", None, "floating point"
    if canonical.kind == TypeKind.RECORD:
        return f"*({kind.spelling}*)filler", None, "a structure by value"
    raise AssertionError(f"what is {kind.spelling} ({canonical.kind})?")


FIELDS = 40  # of a structure, at most: one call's values must fit into one record


def leaves(kind, path="", offset=0):
    """(path, type, offset in bytes) of each scalar in a structure, unions by their first member."""
    declaration = kind.get_canonical().get_declaration()
    members = list(kind.get_canonical().get_fields())
    if declaration.kind == CursorKind.UNION_DECL:
        members = members[:1]
    for member in members:
        canonical = member.type.get_canonical()
        if member.is_bitfield() or not member.spelling:
            continue
        at, where = offset + member.get_field_offsetof() // 8, path + member.spelling
        if canonical.kind == TypeKind.RECORD:
            yield from leaves(canonical, f"{where}.", at)
        elif canonical.kind in SIGNED | UNSIGNED | {TypeKind.ENUM, TypeKind.POINTER}:
            if not is_text(canonical):
                yield where, member.type, at


def is_text(canonical):
    return canonical.kind == TypeKind.POINTER and \
        canonical.get_pointee().kind in (TypeKind.CHAR_S, TypeKind.CHAR_U)


def in_memory(kind, seed):
    """(the bytes of a value, what a trace shows of it)"""
    canonical = kind.get_canonical()
    size = canonical.get_size()
    if canonical.kind == TypeKind.ENUM:
        all_constants = constants(canonical)
        value = all_constants[seed % len(all_constants)][1]
        shown = {"constants": [c for c, same in all_constants if same == value], "number": value}
    elif canonical.kind == TypeKind.POINTER:
        value = address(seed)
        shown = hex(value)
    else:
        value = distinct(seed, size * 8, canonical.kind in SIGNED)
        shown = hex(value % (1 << 64)) if named_like_pointer(kind) else number(value)
    return (value % (1 << size * 8)).to_bytes(size, "little"), shown


def places_in(name, kind):
    """(expression, type, offset in bytes) of what is known behind a pointer or in a structure."""
    canonical = kind.get_canonical()
    if canonical.kind == TypeKind.RECORD:
        return [(f"{name}.{path}", of, at) for path, of, at in leaves(canonical)][:FIELDS]
    if canonical.kind != TypeKind.POINTER:
        return []
    pointee = canonical.get_pointee()
    if pointee.kind == TypeKind.RECORD:
        return [(f"{name}->{path}", of, at) for path, of, at in leaves(pointee)][:FIELDS]
    if pointee.kind in SIGNED | UNSIGNED | {TypeKind.ENUM, TypeKind.POINTER}:
        return [(f"*{name}", kind_behind(kind), 0)]
    return []


def known_memory(name, kind, seed):
    """(a static array in C, called @, {expression: value in it})"""
    canonical = kind.get_canonical()
    if is_text(canonical.get_pointee().get_canonical()):  # const char **
        text = f"text {seed:x}"
        return f"const char* @[] = {{{json.dumps(text)}}}", {f"*{name}": text}
    places, fields = places_in(name, kind), {}
    size = canonical.get_size() if canonical.kind == TypeKind.RECORD else \
        canonical.get_pointee().get_size()
    memory = bytearray(max(size, 8))
    for at, (expression, of, offset) in enumerate(places):
        data, fields[expression] = in_memory(of, seed + 5 * at + 1)
        memory[offset:offset + len(data)] = data
    values = ", ".join(map(str, memory))
    return f"unsigned char @[] __attribute__((aligned(16))) = {{{values}}}", fields


def kind_behind(kind):
    """What a pointer points at, with the names of its typedefs."""
    while kind.kind in (TypeKind.TYPEDEF, TypeKind.ELABORATED):
        kind = kind.get_declaration().underlying_typedef_type
    return kind.get_pointee()


def call_on_memory(name, cursor, seed):
    """Static memory, and a call with it; no fields where nothing behind its parameters is known."""
    lines, touched, texts, fields = [], "", [], {}
    for at, parameter in enumerate(cursor.get_arguments()):
        kind, canonical = parameter.type, parameter.type.get_canonical()
        texts.append(argument(kind, seed + at)[0])
        if canonical.kind not in (TypeKind.POINTER, TypeKind.RECORD) or is_text(canonical):
            continue
        declaration, found = known_memory(parameter.spelling, kind, seed + at)
        if found:
            fields.update(found)
            lines.append("static " + declaration.replace("@", f"memory_{seed + at}") + ";")
            place = f"(void*)memory_{seed + at}"
            points_at_text = declaration.startswith("const char*")
            touched += f" touch({'*' if points_at_text else ''}memory_{seed + at});"
            by_value = canonical.kind == TypeKind.RECORD
            texts[-1] = f"*({kind.spelling}*){place}" if by_value else place
    return lines, f"   {touched} {name}({', '.join(texts)});", {"symbol": name, "fields": fields}


def call(name, cursor, seed):
    shown, left_out, texts = {}, {}, []
    for at, parameter in enumerate(cursor.get_arguments()):
        text, value, why_not = argument(parameter.type, seed + at)
        texts.append(text)
        shown[parameter.spelling] = value if why_not is None else None
        if why_not is not None:
            left_out[parameter.spelling] = why_not
    old = any("CUdeviceptr_v1" in p.type.spelling for p in cursor.get_arguments())
    said = {"symbol": name, "args": shown, "left_out": left_out, "is_32_bit": old}
    return f"    {name}({', '.join(texts)});", said


# A probe reads what is in memory and brings nothing in from a file.
TOUCH = """
static void touch(const void* place) {
    *(volatile const char*)place;
}
"""


def write_program(path, declarations, calls):
    with open(path, "w") as file:
        file.write("".join(f"#include <{header}>\n" for header in HEADERS))
        file.write("static const unsigned char filler[4096];\n" + TOUCH + "\n".join(declarations))
        file.write("\nint main(void) {\n" + "\n".join(calls) + "\n    return 0;\n}\n")


def write_json(path, value):
    with open(path, "w") as file:
        json.dump(value, file, indent=1)


def main(include, library, out):
    declared, exported = functions(include), exports(library)
    lines, calls, memory, on_memory, known = [], [], [], [], []
    for seed, name in enumerate(sorted(set(exported) & set(declared))):
        line, said = call(name, declared[name], 16 * (seed + 1))
        lines.append(line)
        calls.append({**said, "result": declared[name].result_type.spelling})
        declarations, line, said = call_on_memory(name, declared[name], 64 * (seed + 1))
        if said["fields"]:
            memory += declarations
            on_memory.append(line)
            known.append(said)
    write_program(f"{out}/client.c", [], lines)
    write_program(f"{out}/memory.c", memory, on_memory)
    write_json(f"{out}/calls.json", {"calls": calls, "addresses": exported,
                                     "undeclared": sorted(set(exported) - set(declared))})
    write_json(f"{out}/memory.json", known)


if __name__ == "__main__":
    main(*sys.argv[1:])
