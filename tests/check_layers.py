#!/usr/bin/env python3
"""Checks that the sources keep to the layers, that folders, files and functions stay small, that no two
types have one name, and that text is wrapped.

    tests/check_layers.py    the tree; exit status 1 and a line for each violation

Its tests are those of tests/scripts/test_layers.py.
"""

import ast
import collections
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_FILE, MAX_FUNCTION = 400, 60  # lines
MAX_TEXT = 100  # characters of a line of text
MAX_FOLDER = 40  # sources in a folder of tool/

# A folder of tool/ -> the folders that it may include (and, through them, theirs).
NEEDS = {
    "base": [],
    "text": ["base"],
    "rules": ["text"],
    "target": ["rules"],
    "files": ["text"],
    "kernel": ["target", "files"],
    "elf": ["target", "files"],
    "process": ["target", "files"],
    "host": ["kernel", "elf", "process"],
    "plan": ["target"],
    "codegen": ["plan"],
    "bpf": ["codegen"],
    "symbols": ["plan"],
    "event": ["symbols"],
    "sink": ["event"],
    "saved": ["sink"],
    "phases": ["saved"],
    "profile": ["phases"],
    "requests": ["saved"],
    "view": ["saved"],
    "python": ["bpf", "elf", "process"],
    "terminal": ["profile", "process"],
    "exports": ["requests", "process"],
    "load": ["bpf", "host", "sink"],
    "account": ["load", "sink"],
    "session": ["account", "python", "terminal", "exports"],
    "commands": ["session", "view"],
    "ctypes": ["text"],
    "compiler": ["ctypes"],
    "doctor": ["session"],
    "cli": ["commands", "doctor"],
    "": ["cli"],  # main.cpp
}

# The headers that other folders may include. A folder that is not named here has one, NAME/NAME.h.
PUBLIC = {
    "base": None,  # all of them
    "text": None,
    "rules": {"rules.h", "stack_kinds.h", "types.h", "check.h", "ctypes.h"},
    "bpf": {"abilities.h", "bundle.h", "hit_cost.h", "kernel.h", "compiler.h", "remembering_compiler.h"},
    "symbols": {"stacks.h", "symbolize.h"},
    "event": {"event.h", "pipeline.h", "record.h"},
    "ctypes": {"clang_text.h", "declarations.h", "translation_unit.h", "types_json.h"},
    "sink": {"sink.h", "cost_text.h", "layers.h", "frames.h",
             "json_writer.h", "summary_members.h", "summary_text.h", "json.h", "buffer.h", "format.h", "output_file.h", "folded.h"},
    "saved": {"saved_trace.h", "saved_summary.h", "event_fields.h", "input.h", "json_line.h"},
    "phases": {"phases.h", "file_group.h", "file_key.h", "gpu_calls.h", "repetitions.h"},
    "profile": {"profile.h", "progress.h"},
    "files": {"disk_space.h", "file_limit.h", "file_systems.h", "install_paths.h", "mounts.h", "sources.h",
              "overlay_layers.h", "paths.h", "read_lines.h", "trusted_files.h"},
    "kernel": {"gpu_driver.h", "kernel_btf.h", "kernel_headers.h", "kernel_release.h", "kernel_symbols.h",
               "live_kernel.h", "struct_text.h", "syscall_table.h", "tracepoints.h"},
    "elf": {"elf_file.h", "elf_image.h", "elf_stubs.h", "ld_cache.h", "usdt.h"},
    "process": {"capabilities.h", "clock.h", "container.h", "identity.h", "inherited.h", "proc.h",
                "process.h", "process_reader.h", "process_view.h", "rights.h"},
    "host": {"live_host.h", "open_guard.h"},
    "terminal": {"live_progress.h", "live_screen.h", "print.h", "live_text.h", "progress_bar.h"},
    "exports": {"exports.h", "options.h"},
    "load": {"options.h", "steps.h", "frontend.h", "features.h", "loader.h", "rehearsal.h", "late.h",
             "given.h", "going_on.h", "learning_probes.h", "self_check.h", "uprobe_touch.h", "detach.h"},
    "account": {"coverage.h", "cost_account.h", "metrics.h", "process_looks.h", "sum_looks.h"},
    "session": {"options.h", "session.h", "generation.h", "keep.h", "explain.h", "messages.h", "profile.h",
                "report_file.h", "views.h"},
    "cli": {"command_line.h"},
}

# Know nothing of the machine but what target::Host tells them, and so need neither root nor a kernel.
PURE = {"rules", "target", "plan", "codegen", "event"}

# (what it is, pattern over code without comments, folders that may)
RESERVED = [
    ("files of the machine", r'#\s*include\s*(<(fstream|filesystem|fcntl\.h|dirent\.h|sys/stat\.h|unistd\.h)>|'
     r'"base/(read_file|open_file|create_file|file_cache|living_thread|debug_files)\.h")|'
     r"\b(open_file|fopen|openat|(?<!\w)::open|opendir)\s*\(", set(NEEDS) - PURE),
    ("libbcc, clang or LLVM", r'#\s*include\s*[<"](bcc/|bcc_|clang-c/|clang/|llvm-c/|llvm/)',
     {"compiler", "ctypes"}),
    ("BPF system calls", r'#\s*include\s*<(bpf/bpf\.h|bpf/libbpf\.h|linux/bpf\.h)>|'
     r"\b(__NR_bpf|SYS_bpf)\b", {"bpf", "compiler"}),
    # process/ has the counters of a process, which no BPF program sees.
    ("perf events", r"\b(__NR_perf_event_open|SYS_perf_event_open)\b", {"bpf", "compiler", "process"}),
    ("threads", r"#\s*include\s*<(thread|mutex|shared_mutex|condition_variable|future|stop_token|"
     r"pthread\.h)>|\bpthread_create\b",
     {"base", "terminal", "exports", "load", "account", "session", "compiler"}),
    # process/ puts the dispositions of a launched command back; compiler/ answers a stack overflow of
    # LLVM with its last words; only session/ and commands/ handle signals of the tracer.
    ("signal handling", r"\b(sigaction|signalfd|sigwait|sigtimedwait)\s*\(|\bstd::signal\s*\(",
     {"session", "commands", "process", "compiler"}),
    # files/trusted_files.h says whose files rules, headers and templates may be.
    ("files that rules may name, not looked at for who wrote them", r"\bread_file\s*\(",
     {"base", "text", "files", "kernel", "elf", "process", "host", "bpf", "symbols", "sink", "saved",
      "phases", "profile", "requests", "view", "compiler"}),
    ("wall time", r"\bsystem_clock\b|\bCLOCK_REALTIME\b|\bgettimeofday\b|"
     r"\btime\s*\(\s*(nullptr|NULL|0)\s*\)", {"process", "session", "commands"}),
]

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def closure(folder):
    """`folder` and all that it may include."""
    reached, todo = set(), [folder]
    while todo:
        current = todo.pop()
        if current not in reached:
            reached.add(current)
            todo += NEEDS.get(current, [])
    return reached


def blank(match):
    """As many newlines as the match has, so that line numbers stay; spaces for the rest."""
    return re.sub(r"[^\n]", " ", match.group())


TOKENS = re.compile(
    r'R"(?P<tag>[^()\s\\]{0,16})\((?:.|\n)*?\)(?P=tag)"'  # raw string
    r"|//[^\n]*|/\*(?:.|\n)*?\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'")  # not the ' of 1'000


def without_text(code, keep_includes=False):
    """`code` without comments and the insides of literals; positions stay the same."""
    if not keep_includes:
        return TOKENS.sub(blank, code)

    def keep(match):
        line_start = code.rfind("\n", 0, match.start()) + 1
        is_include = code[line_start:match.start()].lstrip().startswith("#")
        return match.group() if is_include and match.group()[0] == '"' else blank(match)
    return TOKENS.sub(keep, code)


def check_includes(folder, path, code):
    """Includes of folders that are not below, and of headers that are not public."""
    allowed = closure(folder)
    for number, line in enumerate(without_text(code, keep_includes=True).splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        parts = match.group(1).split("/")
        other = parts[0] if len(parts) > 1 else folder
        header = "/".join(parts[1:])
        if other == folder or (len(parts) == 1 and folder == ""):
            continue
        if other not in NEEDS:
            continue
        if other not in allowed:
            yield f"{path}:{number}: {folder or 'main'}/ must not include {other}/"
        elif not is_public(other, header):
            yield f"{path}:{number}: {match.group(1)} is not a public header of {other}/"


def is_public(folder, header):
    public = PUBLIC.get(folder, {f"{folder}.h"})
    return public is None or header in public


def check_reserved(folder, path, code):
    for number, line in enumerate(without_text(code, keep_includes=True).splitlines(), 1):
        for what, pattern, folders in RESERVED:
            if folder not in folders and re.search(pattern, line):
                only = ", ".join(f"{name}/" for name in sorted(folders))
                yield f"{path}:{number}: only {only} may use {what}"


def functions(code):
    """(line, length in lines) of each function body of C or C++ code that is not inside another."""
    text = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", blank, without_text(code), flags=re.MULTILINE)
    head, parens, line, depth, begin = "", 0, 1, 0, None
    for char in text:
        if char == "\n":
            line += 1
        if begin is not None:  # inside a body: only count braces
            depth += (char == "{") - (char == "}")
            if depth == 0:
                yield begin, line - begin + 1
                begin, head = None, ""
            continue
        parens += (char == "(") - (char == ")")
        if char == "{" and parens == 0 and is_function(head):
            depth, begin = 1, line
        elif char in ";{}" and parens == 0:
            head = ""
        else:
            head += char


def is_function(head):
    """Whether the text in front of a `{` is a function's: not a namespace, type or initialiser."""
    if "(" not in head or re.match(r"\s*(namespace|enum|extern\s*$)", head):
        return False
    before = head[:head.index("(")]
    if "=" in re.sub(r"\boperator\s*\S+|<[^<>]*>", "", before):
        return False
    return not re.match(r"\s*(template\s*<[^{]*>\s*)?(class|struct|union)\s+\w+\s*(final\s*)?"
                        r"(:[^:(]*)?$", before)


def python_functions(code):
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1


def check_lengths(path, code):
    lines = code.count("\n")
    if lines > MAX_FILE:
        yield f"{path}:1: {lines} lines; at most {MAX_FILE}"
    found = python_functions(code) if path.suffix == ".py" else functions(code)
    for line, length in found:
        if length > MAX_FUNCTION:
            yield f"{path}:{line}: a function of {length} lines; at most {MAX_FUNCTION}"


def sources(root):
    """(path, folder of tool/ or None) of each file that is checked."""
    for top in ("tool", "tests", "examples", "scripts"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".cpp", ".h", ".c", ".py") and path.is_file():
                inside = path.relative_to(root).parts[1:-1]
                yield path, (inside[0] if inside else "") if top == "tool" else None


def check_folders(paths):
    """Folders with too many sources, of the paths of all below tool/."""
    found = collections.Counter(path.parts[1] for path in paths if len(path.parts) > 2)
    for folder, count in sorted(found.items()):
        if count > MAX_FOLDER:
            yield f"tool/{folder}:1: {count} sources; at most {MAX_FOLDER}: split it by subject"


TYPE = re.compile(r"^(?:class|struct|enum class)\s+(\w+)\b[^;]*$", re.MULTILINE)


def check_type_names(headers):
    """Types of one name in headers of two folders: (path, code) of each."""
    folders, places = collections.defaultdict(set), {}
    for path, code in headers:
        for match in TYPE.finditer(without_text(code)):
            name = match.group(1)
            folders[name].add(path.parent.name)
            places[name] = f"{path}:{code.count(chr(10), 0, match.start()) + 1}"
    for name in sorted(folders):
        if len(folders[name]) > 1:
            yield f"{places[name]}: {' and '.join(sorted(folders[name]))} each have a type `{name}`: rename one"


def check_text(path, text):
    """Code, tables and headings are as wide as they are."""
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        is_code ^= line.lstrip().startswith("```")
        is_text = not is_code and not line.startswith(("    ", "|", "#", "!["))
        if is_text and len(line) > MAX_TEXT and not line.startswith("```"):
            yield f"{path}:{number}: {len(line)} characters; at most {MAX_TEXT}"


def documents(root):
    yield from sorted(root.glob("*.md"))
    for top in ("docs", "examples", "probe_templates", "rules", "tests", "tool"):
        yield from sorted((root / top).rglob("*.md"))


def check_tree(root):
    violations, paths, headers = [], [], []
    for path, folder in sources(root):
        code = path.read_text(errors="replace")
        shown = path.relative_to(root)
        if folder is not None:
            paths.append(shown)
            if path.suffix == ".h":
                headers.append((shown, code))
            if folder not in NEEDS:
                violations.append(f"{shown}:1: tool/{folder}/ is not in tests/check_layers.py")
                continue
            violations += check_includes(folder, shown, code)
            violations += check_reserved(folder, shown, code)
        violations += check_lengths(shown, code)
    violations += [*check_folders(paths), *check_type_names(headers)]
    for path in documents(root):
        violations += check_text(path.relative_to(root), path.read_text())
    return violations


def main():
    violations = check_tree(ROOT)
    print("\n".join(violations))
    print(f"check_layers: {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
