"""tests/check_layers.py: what it finds, and what it does not."""

import unittest
from pathlib import Path

from check_layers import (
    MAX_FOLDER, MAX_FUNCTION, NEEDS, ROOT, check_folders, check_includes, check_lengths, check_reserved, check_text,
    check_type_names, functions, sources)


class Layers(unittest.TestCase):
    def includes(self, folder, code):
        return list(check_includes(folder, Path("f.cpp"), code))

    def lengths(self, code):
        return list(functions(code))

    def test_may_include_what_is_below(self):
        self.assertEqual(self.includes("plan", '#include "rules/types.h"\n#include "base/x.h"'), [])

    def test_must_not_include_what_is_above(self):
        self.assertEqual(self.includes("rules", '\n#include "plan/plan.h"'),
                         ["f.cpp:2: rules/ must not include plan/"])

    def test_kernel_and_plan_do_not_see_each_other(self):
        self.assertEqual(len(self.includes("kernel", '#include "plan/plan.h"')), 1)
        self.assertEqual(len(self.includes("plan", '#include "kernel/kernel_btf.h"')), 1)

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
                         ["f.cpp:1: only compiler/, ctypes/ may use libbcc, clang or LLVM"])
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

    def test_a_folder_of_many_files(self):
        def found(count):
            return list(check_folders([Path(f"tool/a/{i}.h") for i in range(count)] + [Path("tool/main.cpp")]))
        self.assertEqual(found(MAX_FOLDER), [])
        self.assertEqual(found(41), ["tool/a:1: 41 sources; at most 40: split it by subject"])

    def test_two_types_of_one_name(self):
        def found(*headers):
            return list(check_type_names([(Path(path), code) for path, code in headers]))
        one, other = ("tool/a/x.h", "class Place {\n};"), ("tool/b/y.h", "\nstruct Place final : Base {\n};")
        self.assertEqual(found(one, ("tool/a/z.h", "enum class Place { here };")), [])
        self.assertEqual(found(one, other), ["tool/b/y.h:2: a and b each have a type `Place`: rename one"])
        self.assertEqual(found(one, ("tool/b/y.h", "struct Place;\n// struct Place {")), [])

    def test_text_is_wrapped(self):
        wide = "a " * 51
        found = list(check_text(Path("a.md"), f"| {wide} |\n```sh\n{wide}\n```\n    {wide}\n# {wide}\n{wide}\n"))
        self.assertEqual(found, ["a.md:7: 102 characters; at most 100"])

    def test_every_folder_of_the_tree_has_a_layer(self):
        known = {folder for _, folder in sources(ROOT) if folder is not None}
        self.assertLessEqual(known, set(NEEDS))
