// What is said of mistakes that show only against a prototype; whole messages.
#include <gtest/gtest.h>

#include "rules/checked.h"

namespace mlbcc::test {
namespace {

Prototypes prototypes() {
    Prototypes p = cuda_prototypes();
    p.record("struct model", 24,
             {{"int rows", 0}, {"float rate", 4}, {"dim3 size", 8}, {"int few", 20, 0, 3}});
    p.record("struct small", 8, {{"short a", 0, 0, 0, 4}, {"int bits", 4, 0, 3}});
    p.add("void step(struct model *m, const struct model *before, float rate, int i)");
    p.add("long double wide(__int128 big, const void *data, dim3 grid, struct small s)");
    p.add("int printf(const char *format, ...)");
    p.add("int texts(const char *name, char *out)");
    return p;
}

std::string said(const std::string& function, const std::string& expr, bool entry = false) {
    return Checked(prototypes(), function, expr, entry).messages();
}

// The expression stands alone in line 14.
std::string at(size_t column, const std::string& expr, const std::string& carets) {
    return "  --> a.rules:14:" + std::to_string(column) + "\n   |\n14 | " + expr + "\n   | " +
           std::string(column - 1, ' ') + carets + "\n";
}

TEST(CheckMistakes, WhatCannotBeDemangled) {
    EXPECT_EQ(said("step", "demangle(i)"),
              "error: `i` is not text that is read\n" + at(1, "demangle(i)", "^^^^^^^^^^^") +
                  "   = help: `demangle` is for `const char *` parameters and for `str(pointer, "
                  "N)`\n");
    EXPECT_EQ(said("texts", "demangle(name) == \"f\""),
              "error: a name is demangled in the trace, not where it is compared\n" +
                  at(1, "demangle(name) == \"f\"", "^^^^^^^^^^^^^^^^^^^^^") +
                  "   = help: compare the name as the compiler wrote it, without `demangle`\n");
}

TEST(CheckMistakes, AnUnknownName) {
    EXPECT_EQ(said("cuMemAlloc_v2", "bytessize"),
              "error: `bytessize` is not a parameter of `cuMemAlloc_v2`\n" +
                  at(1, "bytessize", "^^^^^^^^^ not known here") +
                  "note: the prototype is here\n  --> api.h:3:10\n"
                  "   = help: a parameter with a similar name exists: `bytesize`\n");
    EXPECT_EQ(said("cuMemAlloc_v2", "ret == CUDA_SUCCES"),
              "error: `CUDA_SUCCES` is not a parameter of `cuMemAlloc_v2`\n" +
                  at(8, "ret == CUDA_SUCCES", "^^^^^^^^^^^ not known here") +
                  "note: the prototype is here\n  --> api.h:3:10\n"
                  "   = help: a similar name exists: `CUDA_SUCCESS`\n");
    EXPECT_EQ(said("cuMemAlloc_v2", "zzzzzz"),
              "error: `zzzzzz` is not a parameter of `cuMemAlloc_v2`\n" +
                  at(1, "zzzzzz", "^^^^^^ not known here") +
                  "note: the prototype is here\n  --> api.h:3:10\n");
}

TEST(CheckMistakes, ANameWithoutAPrototype) {
    EXPECT_EQ(said("mystery", "size"),
              "error: `size` is not known: `mystery` has no prototype\n" +
                  at(1, "size", "^^^^ not known here") +
                  "   = help: write its prototype in the rule file, or use `arg(0)`, `arg(1)`, "
                  "...\n");
}

TEST(CheckMistakes, AllOfAnExpressionAreTold) {
    EXPECT_EQ(Checked(prototypes(), "cuInit", "aaaa + bbbb").messages(),
              "error: `aaaa` is not a parameter of `cuInit`\n" +
                  at(1, "aaaa + bbbb", "^^^^ not known here") +
                  "note: the prototype is here\n  --> api.h:3:10\n\n"
                  "error: `bbbb` is not a parameter of `cuInit`\n" +
                  at(8, "aaaa + bbbb", "^^^^ not known here") +
                  "note: the prototype is here\n  --> api.h:3:10\n");
}

TEST(CheckMistakes, WhatIsNotKnownAtEntry) {
    EXPECT_EQ(said("cuMemAlloc_v2", "*dptr", true),
              "error: `*dptr` is not known at entry\n" + at(1, "*dptr", "^^^^^") +
                  "   = note: `cuMemAlloc_v2` may write it before it returns: it is not `const`\n"
                  "   = help: remove `entry`, use `dptr` without `*`, or declare or cast it as a "
                  "pointer to const\n");
    EXPECT_EQ(said("step", "m->rows", true),
              "error: `m->rows` is not known at entry\n" + at(1, "m->rows", "^^^^^^^") +
                  "   = note: `step` may write it before it returns: it is not `const`\n"
                  "   = help: remove `entry`, or declare the parameter as a pointer to const\n");
    EXPECT_EQ(said("texts", "str(out)", true),
              "error: `str(out)` is not known at entry\n" + at(1, "str(out)", "^^^^^^^^") +
                  "   = note: `texts` may write it before it returns: it is not `const`\n"
                  "   = help: remove `entry`, or declare the parameter as a pointer to const\n");
    EXPECT_EQ(said("cuInit", "ret", true),
              "error: `ret` is not known at entry\n" + at(1, "ret", "^^^") +
                  "   = help: remove `entry`: the rule then acts when the call returns\n");
    EXPECT_EQ(said("cuInit", "duration > 5ms", true),
              "error: `duration` is not known at entry\n" + at(1, "duration > 5ms", "^^^^^^^^") +
                  "   = help: remove `entry`: the rule then acts when the call returns\n");
    EXPECT_EQ(said("step", "before->rows", true), "") << "const, so known";
    EXPECT_EQ(said("step", "&m->rows", true), "") << "an address is known";
}

TEST(CheckMistakes, WhatAProbeCannotRead) {
    EXPECT_EQ(said("step", "rate"),
              "error: `rate` cannot be read by a probe\n" + at(1, "rate", "^^^^") +
                  "   = note: it is a `float`: the kernel gives probes no floating-point "
                  "registers, and what it has saved of a thread's is old\n");
    EXPECT_EQ(said("wide", "ret"),
              "error: `ret` cannot be read by a probe\n" + at(1, "ret", "^^^") +
                  "   = note: it is a `long double`: the kernel gives probes no floating-point "
                  "registers, and what it has saved of a thread's is old\n");
    EXPECT_EQ(said("wide", "big"), "error: `big` cannot be read by a probe\n" +
                                       at(1, "big", "^^^") +
                                       "   = note: it is a `__int128`, wider than 64 bits\n");
    EXPECT_EQ(said("wide", "grid"), "error: `grid` cannot be read by a probe\n" +
                                        at(1, "grid", "^^^^") +
                                        "   = note: it is a `dim3`: name one of its fields\n");
    EXPECT_EQ(said("step", "*before"),
              "error: `*before` cannot be read by a probe\n" + at(1, "*before", "^^^^^^^") +
                  "   = note: it is a `struct model`: name one of its fields\n");
    EXPECT_EQ(said("step", "ret"),
              "error: `step` returns nothing\n" + at(1, "ret", "^^^ not known here"));
    EXPECT_EQ(said("wide", "s.bits"),
              "error: `s.bits` cannot be read by a probe\n" + at(1, "s.bits", "^^^^^^") +
                  "   = note: only whole integer fields of a struct passed by value can\n");
}

TEST(CheckMistakes, PointersAndFields) {
    EXPECT_EQ(said("step", "*i"), "error: `i` is not a pointer\n" + at(1, "*i", "^^") +
                                      "   = note: its type is `int`\n");
    EXPECT_EQ(said("mystery", "*arg(0)"),
              "error: `arg(0)` is not a pointer\n" + at(1, "*arg(0)", "^^^^^^^"));
    EXPECT_EQ(said("wide", "*data"),
              "error: nothing is known of what `data` points at\n" + at(1, "*data", "^^^^^") +
                  "   = note: its type is `const void *`\n"
                  "   = help: use it without reading through it, or give its struct in the rule "
                  "file\n");
    EXPECT_EQ(said("step", "m->row"),
              "error: `row` is not a field of `struct model`\n" + at(4, "m->row", "^^^") +
                  "   = help: a field with a similar name exists: `rows`\n");
    EXPECT_EQ(said("step", "m->size.w"),
              "error: `w` is not a field of `dim3`\n" + at(9, "m->size.w", "^"));
    EXPECT_EQ(said("step", "m.rows"), "error: `m` is not a struct\n" + at(1, "m.rows", "^^^^^^") +
                                          "   = note: its type is `struct model *`\n"
                                          "   = help: of a pointer, fields are read with `->`\n");
    EXPECT_EQ(said("cuMemAlloc_v2", "dptr->x"),
              "error: `CUdeviceptr` has no fields\n" + at(1, "dptr->x", "^^^^^^^"));
    EXPECT_EQ(said("step", "&i"), "error: `i` has no address\n" + at(1, "&i", "^^"));
    EXPECT_EQ(said("step", "&m->row"),
              "error: `row` is not a field of `struct model`\n" + at(5, "&m->row", "^^^") +
                  "   = help: a field with a similar name exists: `rows`\n");
    EXPECT_EQ(said("wide", "s.a[4]"),
              "error: there is no `s.a[4]`\n" + at(1, "s.a[4]", "^^^^^^") +
                  "   = note: `s.a` has 4 elements, and they count from 0\n");
    EXPECT_EQ(said("wide", "s.a[big]").substr(0, 39), "error: `big` cannot be read by a probe\n");
    EXPECT_EQ(said("wide", "s.a[pid]"),
              "error: an index into a struct passed by value must be a number\n" +
                  at(1, "s.a[pid]", "^^^^^^^^"));
}

TEST(CheckMistakes, TextIsNoNumber) {
    const std::string help =
        "   = help: text can be shown, grouped by, and compared with `==` and `!=`\n";
    EXPECT_EQ(said("texts", "-comm"), "error: `comm` is text, and an operand is a number\n" +
                                          at(2, "-comm", "^^^^") + help);
    EXPECT_EQ(said("texts", "comm ? 1 : 2"),
              "error: `comm` is text, and a condition is a number\n" +
                  at(1, "comm ? 1 : 2", "^^^^") + help);
    EXPECT_EQ(said("texts", "name[comm]"), "error: `comm` is text, and an index is a number\n" +
                                               at(6, "name[comm]", "^^^^") + help);
    EXPECT_EQ(said("texts", "kernel[name]"),
              "error: `name` is text, and the key of a learnt table is a number\n" +
                  at(8, "kernel[name]", "^^^^") + help);
    const std::string compare =
        "   = help: compare `const char *` parameters and `comm` by `==` or `!=` with a literal\n";
    EXPECT_EQ(said("texts", "comm + 1"), "error: text can only be compared with a string\n" +
                                             at(1, "comm + 1", "^^^^^^^^") + compare);
    EXPECT_EQ(said("texts", "name < \"b\""), "error: text can only be compared with a string\n" +
                                                 at(1, "name < \"b\"", "^^^^^^^^^^") + compare);
    EXPECT_EQ(said("texts", "out == \"b\""), "error: text can only be compared with a string\n" +
                                                 at(1, "out == \"b\"", "^^^^^^^^^^") + compare);
}

TEST(CheckMistakes, WhatWasLearntIsNoAddress) {
    EXPECT_EQ(said("cuLaunchKernel", "str(kernel[f])"),
              "error: `kernel[f]` is known to the tracer only\n" +
                  at(5, "str(kernel[f])", "^^^^^^^^^") +
                  "   = note: memory is read in the kernel, when the call is made\n"
                  "   = help: use what the call itself has here\n");
    EXPECT_EQ(said("cuLaunchKernel", "size(f)"), "error: `f` is not a learnt table's entry\n" +
                                                     at(1, "size(f)", "^^^^^^^") +
                                                     "   = help: write it as `size(table[key])`\n");
    EXPECT_EQ(said("cuLaunchKernel", "now(gpu_byte)"),
              "error: there is no gauge `gpu_byte`\n" + at(5, "now(gpu_byte)", "^^^^^^^^") +
                  "   = help: a gauge with a similar name exists: `gpu_bytes`\n");
}

TEST(CheckMistakes, TheLengthOfStr) {
    EXPECT_EQ(said("texts", "str(name, 1)"), "error: the length of `str` is from 2 to 512 bytes\n" +
                                                 at(1, "str(name, 1)", "^^^^^^^^^^^^"));
    EXPECT_EQ(said("texts", "str(name, 513)"),
              "error: the length of `str` is from 2 to 512 bytes\n" +
                  at(1, "str(name, 513)", "^^^^^^^^^^^^^^"));
    EXPECT_EQ(said("texts", "str(name, 512)"), "");
    EXPECT_EQ(said("texts", "str(comm)"),
              "error: `comm` is not a pointer to text\n" + at(1, "str(comm)", "^^^^^^^^^"));
}

TEST(CheckMistakes, AnArgumentPastTheEnd) {
    EXPECT_EQ(said("cuMemAlloc_v2", "arg(2)"),
              "error: there is no `arg(2)`\n" + at(1, "arg(2)", "^^^^^^") +
                  "   = note: `cuMemAlloc_v2` has 2 parameters, and they count from 0\n");
    EXPECT_EQ(said("mystery", "arg(16)"), "error: there is no `arg(16)`\n" +
                                              at(1, "arg(16)", "^^^^^^^") +
                                              "   = note: arguments count from 0 to 15\n");
    EXPECT_EQ(said("printf", "arg(3)"), "") << "variadic";
}

}  // namespace
}  // namespace mlbcc::test
