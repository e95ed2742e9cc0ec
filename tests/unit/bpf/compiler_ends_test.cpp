// Where calls of a function end, by the function's bytes.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bpf/compiler_fixture.h"

namespace mlbcc::bpf {
namespace {

using EndsTest = CompilerTest;
using Returns = std::vector<uint64_t>;
using Jumps = std::vector<CodeJump>;

std::vector<std::byte> bytes(std::string_view text) {
    std::vector<std::byte> result;
    for (size_t i = 0; i + 1 < text.size(); ++i) {
        if (text[i] == ' ') continue;
        result.push_back(
            static_cast<std::byte>(std::stoi(std::string(text.substr(i++, 2)), nullptr, 16)));
    }
    return result;
}

CodeEnds find(CompilerProcess& helper, std::string_view text,
              std::optional<uint64_t> size = std::nullopt,
              const std::string& architecture = "x86_64") {
    auto code = bytes(text);
    FunctionCode function{code, size.value_or(code.size()), true};
    auto entries = helper.entries(architecture, {&function, 1});
    if (!entries || entries->size() != 1) {
        ADD_FAILURE() << "no answer for " << text;
        return {};
    }
    return entries->front().ends;
}

TEST_F(EndsTest, EachInstructionThatReturnsIsOne) {
    // test %edi,%edi; je +2; ret; nop; repz ret
    const CodeEnds ends = find(helper(), "85ff 7402 c3 90 f3c3");
    EXPECT_EQ(ends.returns, (Returns{4, 6}));
    EXPECT_EQ(ends.jumps, Jumps{});
    EXPECT_EQ(ends.unknown, "");
}

TEST_F(EndsTest, JumpsOutOfTheFunctionAreTold) {
    // push %rbx; jne -> +64 (its cold part); pop %rbx; jmp -> -252; call elsewhere is none
    const CodeEnds ends = find(helper(), "53 e8fbffffff 0f853a000000 5b e9f2feffff");
    EXPECT_EQ(ends.returns, Returns{});
    EXPECT_EQ(ends.jumps, (Jumps{{6, 70, 5}, {13, -252, {}}}));
    EXPECT_EQ(ends.unknown, "");
}

TEST_F(EndsTest, JumpsThroughPointersAreTold) {
    const auto expect = [&](std::string_view code, Returns at, const char* first) {
        const CodeEnds ends = find(helper(), code);
        EXPECT_EQ(ends.pointers, at) << code;
        EXPECT_EQ(ends.pointer, first);
        EXPECT_EQ(ends.unknown, "");
    };
    // jmp *4660(%rip)
    expect("ff2534120000", {0}, "+0 `jmpq *4660(%rip)`");
    // mov (%rdi),%rax; jmp *24(%rax): a virtual function
    expect("488b07 ff6018", {3}, "+3 `jmpq *24(%rax)`");
    // mov %rsi,%rax; jmp *%rax; jmp *%rdx
    expect("4889f0 ffe0 ffe2", {3, 5}, "+3 `jmpq *%rax`");
}

// A stub of the linker's: endbr64; bnd jmp *4660(%rip); nothing is behind it.
TEST_F(EndsTest, OfUnknownSizeAJumpThroughAPointerIsTheLast) {
    const CodeEnds ends = find(helper(), "f30f1efa f2ff2534120000 06", 0);
    EXPECT_EQ(ends.pointers, Returns{4});
    EXPECT_EQ(ends.unknown, "");
    EXPECT_EQ(find(helper(), "ffe0", 0).unknown, "+0 `jmpq *%rax` goes where is not known");
}

TEST_F(EndsTest, JumpsByTablesStayInTheFunction) {
    // movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax; ret
    const CodeEnds by_offsets = find(helper(), "48630482 4801d0 ffe0 c3");
    EXPECT_EQ(by_offsets.unknown, "");
    EXPECT_EQ(by_offsets.returns, Returns{9});
    // jmp *0x402000(,%rax,8); ret
    EXPECT_EQ(find(helper(), "ff24c500204000 c3").unknown, "");
    // notrack jmp *%rax; ret
    EXPECT_EQ(find(helper(), "3effe0 c3").unknown, "");
}

TEST_F(EndsTest, OfUnknownSizeWhatIsReachedCounts) {
    // test %edi,%edi; je +1; ret; jmp +1; (no instruction); ret; behind it another function's ret
    const CodeEnds ends = find(helper(), "85ff 7401 c3 eb01 06 c3 c3", 0);
    EXPECT_EQ(ends.returns, (Returns{4, 8}));
    EXPECT_EQ(ends.unknown, "");
    // It falls off the end of what there is.
    EXPECT_EQ(find(helper(), "85ff", 0).unknown, "it cannot be read at +2");
}

TEST_F(EndsTest, WhatIsNoInstructionOrMissingIsSaid) {
    EXPECT_EQ(find(helper(), "c3 06 06").unknown, "it cannot be read at +1");
    EXPECT_EQ(find(helper(), "c3", 4096).unknown, "it is too large to be searched");
}

TEST_F(EndsTest, Arm) {
    // cbz w0, +8; ret; b -> -4096
    const CodeEnds ends = find(helper(), "40000034 c0035fd6 fefbff17", std::nullopt, "aarch64");
    EXPECT_EQ(ends.returns, Returns{4});
    EXPECT_EQ(ends.jumps, (Jumps{{8, -4096, {}}}));
    EXPECT_EQ(ends.unknown, "");
    // ldrsw x1,[x0,x1,lsl #2]; add x0,x0,x1; br x0; ret
    EXPECT_EQ(
        find(helper(), "0178a1b8 0000018b 00001fd6 c0035fd6", std::nullopt, "aarch64").unknown, "");
    // ldr x16,[x0]; br x16
    EXPECT_EQ(find(helper(), "100040f9 00021fd6", std::nullopt, "aarch64").pointer, "+4 `br x16`");
}

}  // namespace
}  // namespace mlbcc::bpf
