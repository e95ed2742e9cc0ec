#!/usr/bin/env python3
"""Checks that the sources keep to the layers, that files and functions stay short, and that text is
wrapped.

    tests/check_layers.py              the tree; exit status 1 and a line for each violation
    tests/check_layers.py --self-test  this script itself
"""

import ast
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_FILE, MAX_FUNCTION = 400, 60  # lines
MAX_TEXT = 100  # characters of a line of text

# A folder of tool/ -> the folders that it may include (and, through them, theirs).
NEEDS = {
    "base": [],
    "rules": ["base"],
    "target": ["rules"],
    "system": ["target"],
    "plan": ["target"],
    "codegen": ["plan"],
    "bpf": ["codegen"],
    "event": ["plan"],
    "sink": ["event"],
    "saved": ["sink"],
    "profile": ["saved"],
    "requests": ["saved"],
    "view": ["saved"],
    "python": ["bpf", "system"],
    "terminal": ["profile", "system"],
    "exports": ["requests", "system"],
    "load": ["bpf", "system", "sink"],
    "account": ["load", "sink"],
    "session": ["account", "python", "terminal", "exports"],
    "commands": ["session", "view"],
    "compiler": ["base"],
    "doctor": ["session"],
    "cli": ["commands"],
    "": ["cli", "doctor"],  # main.cpp
}

# The headers that other folders may include. A folder that is not named here has one, NAME/NAME.h.
PUBLIC = {
    "base": None,  # all of them
    "rules": {"rules.h", "types.h", "check.h", "ctypes.h"},
    "bpf": {"abilities.h", "bundle.h", "hit_cost.h", "kernel.h", "compiler.h", "remembering_compiler.h"},
    "event": {"event.h", "pipeline.h", "record.h"},
    "sink": {"sink.h", "cost_text.h", "layers.h", "amounts.h", "frames.h",
             "json_writer.h", "summary_text.h", "json.h", "buffer.h", "format.h", "output_file.h", "folded.h"},
    "saved": {"saved_trace.h", "saved_summary.h", "happening.h", "input.h", "json_line.h"},
    "profile": {"profile.h", "progress.h"},
    "system": None,
    "terminal": {"live_progress.h", "live_screen.h", "print.h", "live_text.h", "progress_bar.h"},
    "exports": {"exports.h", "options.h"},
    "load": {"options.h", "steps.h", "frontend.h", "features.h", "loader.h", "rehearsal.h", "late.h",
             "given.h", "going_on.h", "learning_probes.h", "self_check.h", "uprobe_touch.h", "detach.h"},
    "account": {"coverage.h", "cost_account.h", "metrics.h", "process_looks.h", "sum_looks.h"},
    "session": {"options.h", "session.h", "generation.h", "keep.h", "explain.h", "messages.h", "profile.h",
                "report_file.h", "views.h"},
    "cli": {"command_line.h"},
}

# (what it is, pattern over code without comments, folders that may)
RESERVED = [
    ("libbcc, clang or LLVM", r'#\s*include\s*[<"](bcc/|bcc_|clang-c/|clang/|llvm-c/|llvm/)',
     {"compiler"}),
    ("BPF system calls", r'#\s*include\s*<(bpf/bpf\.h|bpf/libbpf\.h|linux/bpf\.h)>|'
     r"\b(__NR_bpf|SYS_bpf)\b", {"bpf", "compiler"}),
    # system/ has the counters of a process, which no BPF program sees.
    ("perf events", r"\b(__NR_perf_event_open|SYS_perf_event_open)\b", {"bpf", "compiler", "system"}),
    ("threads", r"#\s*include\s*<(thread|mutex|shared_mutex|condition_variable|future|stop_token|"
     r"pthread\.h)>|\bpthread_create\b", {"base", "terminal", "exports", "load", "account", "session",
                                      "compiler"}),
    # system/ puts the dispositions of a launched command back; compiler/ answers a stack overflow of
    # LLVM with its last words; only session/ and commands/ handle signals of the tracer.
    ("signal handling", r"\b(sigaction|signalfd|sigwait|sigtimedwait)\s*\(|\bstd::signal\s*\(",
     {"session", "commands", "system", "compiler"}),
    # system/trusted_files.h says whose files rules, headers and templates may be.
    ("files that rules may name, not looked at for who wrote them", r"\bread_file\s*\(",
     {"base", "rules", "target", "system", "plan", "codegen", "bpf", "event", "sink", "saved",
      "profile", "requests", "view", "compiler"}),
    ("wall time", r"\bsystem_clock\b|\bCLOCK_REALTIME\b|\bgettimeofday\b|"
     r"\btime\s*\(\s*(nullptr|NULL|0)\s*\)", {"system", "session", "commands"}),
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
    violations = []
    for path, folder in sources(root):
        code = path.read_text(errors="replace")
        shown = path.relative_to(root)
        if folder is not None:
            if folder not in NEEDS:
                violations.append(f"{shown}:1: tool/{folder}/ is not in tests/check_layers.py")
                continue
            violations += check_includes(folder, shown, code)
            violations += check_reserved(folder, shown, code)
        violations += check_lengths(shown, code)
    for path in documents(root):
        violations += check_text(path.relative_to(root), path.read_text())
    return violations


class SelfTest(unittest.TestCase):
    def includes(self, folder, code):
        return list(check_includes(folder, Path("f.cpp"), code))

    def lengths(self, code):
        return list(functions(code))

    def test_may_include_what_is_below(self):
        self.assertEqual(self.includes("plan", '#include "rules/types.h"\n#include "base/x.h"'), [])

    def test_must_not_include_what_is_above(self):
        self.assertEqual(self.includes("rules", '\n#include "plan/plan.h"'),
                         ["f.cpp:2: rules/ must not include plan/"])

    def test_system_and_plan_do_not_see_each_other(self):
        self.assertEqual(len(self.includes("system", '#include "plan/plan.h"')), 1)
        self.assertEqual(len(self.includes("plan", '#include "system/btf.h"')), 1)

    def test_compiler_stands_alone(self):
        self.assertEqual(self.includes("compiler", '#include "base/result.h"'), [])
        self.assertEqual(len(self.includes("compiler", '#include "rules/rules.h"')), 1)

    def test_only_public_headers(self):
        self.assertEqual(self.includes("sink", '#include "event/event.h"'), [])
        self.assertEqual(self.includes("sink", '#include "event/order.h"'),
                         ["f.cpp:1: event/order.h is not a public header of event/"])
        self.assertEqual(self.includes("event", '#include "event/order.h"'), [])

    def test_a_comment_includes_nothing(self):
        self.assertEqual(self.includes("rules", '// #include "plan/plan.h"\n/*\n#include "bpf/bpf.h"\n*/'), [])

    def test_reserved(self):
        def found(folder, code):
            return list(check_reserved(folder, Path("f.cpp"), code))
        self.assertEqual(found("compiler", "#include <bcc/BPFModule.h>"), [])
        self.assertEqual(found("bpf", "#include <bcc/BPFModule.h>"),
                         ["f.cpp:1: only compiler/ may use libbcc, clang or LLVM"])
        self.assertEqual(found("sink", "x;\n#include <bpf/bpf.h>"),
                         ["f.cpp:2: only bpf/, compiler/ may use BPF system calls"])
        self.assertEqual(found("bpf", "#include <bpf/bpf.h>"), [])
        self.assertEqual(len(found("event", "#include <thread>")), 1)
        self.assertEqual(found("session", "#include <thread>\nsigaction(SIGINT, &a, nullptr);"), [])
        self.assertEqual(len(found("sink", "auto t = time(nullptr);")), 1)
        self.assertEqual(found("sink", "auto t = event.time(); // time(nullptr)"), [])

    def test_what_the_trace_reads_is_looked_at(self):
        self.assertEqual(list(check_reserved("session", Path("f.cpp"), "trusted_.read(path, 1);")), [])
        self.assertEqual(len(list(check_reserved("session", Path("f.cpp"), "read_file(path, 1);"))), 1)

    def test_functions_are_found(self):
        self.assertEqual(self.lengths("int f(int a)\n{\n  if (a) {\n  }\n}\n"), [(2, 4)])
        self.assertEqual(self.lengths("namespace a {\nstruct S : T {\n int f() const { return 1; }\n};\n}"),
                         [(3, 1)])
        self.assertEqual(self.lengths("const int x[] = {1, 2};\nauto y = g({1});\nenum E { a };"), [])
        self.assertEqual(self.lengths("template <class F = int> void each(F f) {\n f();\n}"), [(1, 3)])
        self.assertEqual(self.lengths("S::S(int a) : b(a) {\n}\nbool operator==(S, S) {\n\n}"),
                         [(1, 2), (3, 3)])

    def test_text_is_not_code(self):
        self.assertEqual(self.lengths('auto s = R"(\nvoid f() {\n)";\nvoid g() {\n  h("}{", \'{\');\n}'),
                         [(4, 3)])
        self.assertEqual(self.lengths("void g() {\n  // }\n  int n = 1'000;\n}"), [(1, 4)])
        self.assertEqual(self.lengths("#define A(x) do { \\\n  x } while (0)\nvoid f() {\n}"), [(3, 2)])

    def test_lengths_are_reported(self):
        long = "void f() {\n" + "  g();\n" * MAX_FUNCTION + "}\n"
        self.assertEqual(list(check_lengths(Path("f.cpp"), long)),
                         [f"f.cpp:1: a function of {MAX_FUNCTION + 2} lines; at most {MAX_FUNCTION}"])
        self.assertEqual(list(check_lengths(Path("f.py"), "def f():\n" + "  g()\n" * 60)),
                         ["f.py:1: a function of 61 lines; at most 60"])
        self.assertEqual(list(check_lengths(Path("f.h"), "\n" * 401)),
                         ["f.h:1: 401 lines; at most 400"])

    def test_text_is_wrapped(self):
        wide = "a " * 51
        found = list(check_text(Path("a.md"), f"| {wide} |\n```sh\n{wide}\n```\n    {wide}\n# {wide}\n{wide}\n"))
        self.assertEqual(found, ["a.md:7: 102 characters; at most 100"])

    def test_every_folder_of_the_tree_has_a_layer(self):
        known = {folder for _, folder in sources(ROOT) if folder is not None}
        self.assertLessEqual(known, set(NEEDS))


def main():
    if sys.argv[1:] == ["--self-test"]:
        unittest.main(argv=sys.argv[:1])
    violations = check_tree(ROOT)
    print("\n".join(violations))
    print(f"check_layers: {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
