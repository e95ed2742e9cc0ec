// Programs' instructions as text, with the lines of C that they are from.
#include <map>
#include <set>
#include <string>

#include "bpf/program_fixture.h"

namespace mlbcc::bpf {
namespace {

class ListingTest : public ProgramTest {};

// libbcc puts lines of its own into functions: `#line` says which those behind them are.
TEST_F(ListingTest, InstructionsAsTextWithTheirLines) {
    CompileRequest compile = function("BPF_ARRAY(numbers, u64, 4);\n"
                                      "int f(void *ctx) {\n"
                                      "    int key = 1;\n"
                                      "#line 40\n"
                                      "    u64 *found = numbers.lookup(&key);\n"
                                      "#line 50\n"
                                      "    return found != 0;\n"
                                      "}\n");
    compile.emit_only = compile.listing = true;
    Compiled compiled = good(compile);
    ASSERT_EQ(compiled.programs.size(), 1u);
    std::map<std::string, uint32_t> lines;
    for (const ListedInstruction& one : compiled.programs[0].listing) lines[one.text] = one.line;
    EXPECT_EQ(compiled.programs[0].listing.at(0).number, 0u);
    EXPECT_EQ(lines["r1 = map numbers"], 40u);
    EXPECT_EQ(lines["call bpf_map_lookup_elem"], 40u);
    EXPECT_EQ(lines["exit"], 50u);
}

TEST_F(ListingTest, WithoutDebugInformationNoLineIsKnown) {
    CompileRequest compile = function("int f(void *ctx) { return 7; }");
    compile.emit_only = compile.listing = true;
    compile.cflags = {"-g0"};
    Compiled compiled = good(compile);
    ASSERT_EQ(compiled.programs.at(0).listing.size(), 2u);
    EXPECT_EQ(compiled.programs[0].listing[0].text, "r0 = 7");
    EXPECT_EQ(compiled.programs[0].listing[0].line, 0u);
}

TEST_F(ListingTest, SharedFunctionsAreListedWithTheirOwnLines) {
    CompileRequest compile = request(kSharing);
    compile.programs = {{"first", ProgramType::raw_tracepoint, std::nullopt}};
    compile.commons = {{0x7fff0100, "common_inner"}, {0x7fff0101, "common_outer"}};
    compile.emit_only = compile.listing = true;
    Compiled compiled = good(compile);
    std::set<uint32_t> lines;
    size_t calls = 0;
    for (const ListedInstruction& one : compiled.programs.at(0).listing) {
        lines.insert(one.line);
        calls += one.text == "call common_inner" ? 1 : 0;
    }
    EXPECT_EQ(calls, 3u) << "two of `outer`, one of `first`";
    EXPECT_GE(lines.size(), 3u) << "each function has lines of its own";
}

TEST_F(ListingTest, WhatIsRefusedIsListed) {
    NEEDS_BPF();
    CompileRequest compile = function("int f(struct pt_regs *ctx) {\n#line 20\n"
                                      "    return *(volatile int *)((char *)ctx + 10000);\n}");
    compile.listing = true;
    CompileError error = bad(compile);
    ASSERT_FALSE(error.listing.empty());
    EXPECT_EQ(error.listing[0].text, "r0 = *(u32 *)(r1 + 10000)");
    EXPECT_EQ(error.listing[0].line, 20u);
}

}  // namespace
}  // namespace mlbcc::bpf
