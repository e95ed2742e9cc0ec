// Where the probe on a function's entry goes, by the function's bytes.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bpf/compiler_fixture.h"

namespace mlbcc::bpf {
namespace {

using EntriesTest = CompilerTest;

// "f30f1efa 55": the function's bytes
std::vector<std::byte> bytes(std::string_view text) {
    std::vector<std::byte> result;
    for (size_t i = 0; i + 1 < text.size();) {
        if (text[i] == ' ') {
            ++i;
            continue;
        }
        int value = std::stoi(std::string(text.substr(i, 2)), nullptr, 16);
        result.push_back(static_cast<std::byte>(value));
        i += 2;
    }
    return result;
}

EntryChoice choose(CompilerProcess& helper, std::string_view text,
                   const std::string& architecture = "x86_64",
                   std::optional<uint64_t> size = std::nullopt) {
    auto code = bytes(text);
    FunctionCode function{code, size.value_or(code.size())};
    auto entries = helper.entries(architecture, {&function, 1});
    if (!entries || entries->size() != 1) {
        ADD_FAILURE() << "no entry for " << text;
        return {};
    }
    return entries->front();
}

TEST_F(EntriesTest, PushIsEmulatedWhereItStands) {
    // push %rbp; mov %rsp,%rbp; pop %rbp; ret
    auto entry = choose(helper(), "55 4889e5 5d c3");
    EXPECT_EQ(entry.offset, 0u);
    EXPECT_EQ(entry.why, "+0 `pushq %rbp`: emulated");
    EXPECT_FALSE(entry.refused);
}

TEST_F(EntriesTest, BehindEndbr64) {
    // endbr64; push %r12; ret
    auto entry = choose(helper(), "f30f1efa 4154 c3");
    EXPECT_EQ(entry.offset, 4u);
    EXPECT_EQ(entry.why, "+4 `pushq %r12`: emulated; +0 `endbr64` would be single-stepped");
}

TEST_F(EntriesTest, TrampolineOfTheDriver) {
    // cmpl $0x321cba00, 2131(%rip); je +24; jmp *4660(%rip); nops; mov $4,%eax; ret
    auto entry = choose(helper(), "813d 53080000 00ba1c32 740c ff25 34120000 660f1f440000 "
                                  "b804000000 c3");
    EXPECT_EQ(entry.offset, 10u);
    EXPECT_EQ(entry.why, "+10 `je 12`: emulated; +0 `cmpl $840743424, 2131(%rip)` would be "
                         "single-stepped");
}

TEST_F(EntriesTest, NothingCheaperAfterTheStackMoved) {
    // sub $24,%rsp; push %rbx; ret
    EXPECT_EQ(choose(helper(), "4883ec18 53 c3").why,
              "+0 `subq $24, %rsp`: single-stepped, no cheaper place");
}

TEST_F(EntriesTest, NothingBehindWhatChangesTheCall) {
    struct Case {
        const char* code;
        const char* what;
    };
    const Case cases[] = {
        {"31ff 53 c3", "xorl %edi, %edi"},
        {"31c9 53 c3", "xorl %ecx, %ecx"},
        {"4889c6 53 c3", "movq %rax, %rsi"},
        {"b203 53 c3", "movb $3, %dl"},
        {"4989c0 53 c3", "movq %rax, %r8"},
        {"4189c1 53 c3", "movl %eax, %r9d"},
        {"b827000000 53 c3", "movl $39, %eax"},
        {"4989ca 53 c3", "movq %rcx, %r10"},
        {"48890424 53 c3", "movq %rax, (%rsp)"},
        {"48ff07 53 c3", "incq (%rdi)"},
        {"0fa2 53 c3", "cpuid"},
        {"0f05 53 c3", "syscall"},
        {"c3 53", "retq"},
        {"ffe0 53", "jmpq *%rax"},
        {"ffd0 53 c3", "callq *%rax"},
        {"f3aa 53 c3", "rep stosb %al, %es:(%rdi)"},
        {"c9 53 c3", "leave"},
        {"4887f8 53 c3", "xchgq %rax, %rdi"},
    };
    for (const Case& c : cases) {
        EXPECT_EQ(choose(helper(), c.code).why,
                  "+0 `" + std::string(c.what) + "`: single-stepped, no cheaper place");
    }
}

TEST_F(EntriesTest, BehindWhatLeavesTheCallAlone) {
    // mov %rdi,%r11; test %rsi,%rsi; push %rbx
    EXPECT_EQ(choose(helper(), "4989fb 4885f6 53 c3").offset, 6u);
    // cmpb $0, 8(%rdi); jne +1; ret; ret
    EXPECT_EQ(choose(helper(), "807f0800 7501 c3 c3").offset, 4u);
}

TEST_F(EntriesTest, NotWhereTheFunctionComesByAgain) {
    // endbr64; 1: test %rdi,%rdi; jne 1b; ret
    EXPECT_EQ(choose(helper(), "f30f1efa 4885ff 75fb c3").why,
              "+0 `endbr64`: single-stepped; not +7 `jne -5`: the function jumps back to it");
    // test %rdi,%rdi; 1: jne 1b; ret
    EXPECT_EQ(choose(helper(), "4885ff 75fe c3").why,
              "+0 `testq %rdi, %rdi`: single-stepped; not +3 `jne -2`: the function jumps back to "
              "it");
    // endbr64; 1: push %rbx; jmp 1b
    EXPECT_EQ(choose(helper(), "f30f1efa 53 ebfd").offset, 0u);
}

TEST_F(EntriesTest, JumpToTheBeginningIsACall) {
    EXPECT_EQ(choose(helper(), "4885ff 75fb c3").offset, 3u);  // 1: test %rdi,%rdi; jne 1b; ret
}

TEST_F(EntriesTest, ComputedJumpMayGoAnywhere) {
    // test %rdi,%rdi; jne 1f; jmp *%rax; 1: ret
    EXPECT_EQ(choose(helper(), "4885ff 7502 ffe0 c3").why,
              "+0 `testq %rdi, %rdi`: single-stepped; not +3 `jne 2`: a computed jump may go "
              "there");
    EXPECT_EQ(choose(helper(), "f30f1efa 53 ffe0").offset, 4u);  // but not behind endbr64
}

TEST_F(EntriesTest, FunctionThatCannotBeReadToItsEnd) {
    const char* why = "+0 `testq %rdi, %rdi`: single-stepped; not +3 `jne 1`: the function cannot "
                      "be read to its end";
    EXPECT_EQ(choose(helper(), "4885ff 7501 06 c3").why, why);               // 06 is nothing
    EXPECT_EQ(choose(helper(), "4885ff 7501 90 c3", "x86_64", 0).why, why);  // size unknown
    EXPECT_EQ(choose(helper(), "4885ff 7501 90 c3", "x86_64", 70000).why, why);
    EXPECT_EQ(choose(helper(), "f30f1efa 53 c3", "x86_64", 0).offset, 4u);
}

TEST_F(EntriesTest, PrefixesBelongToTheirInstruction) {
    EXPECT_EQ(choose(helper(), "f2e900000000 c3").offset, 0u);   // bnd jmp
    EXPECT_EQ(choose(helper(), "4885ff 3e7400 c3").offset, 0u);  // je with a hint
    EXPECT_EQ(choose(helper(), "4885ff 66e900000000 0000 c3").offset, 0u);
    EXPECT_EQ(choose(helper(), "4853 c3").offset, 0u);  // rex.W push
}

TEST_F(EntriesTest, WhatTheKernelRefuses) {
    auto entry = choose(helper(), "f0ff07 c3");
    EXPECT_TRUE(entry.refused);
    EXPECT_EQ(entry.why, "+0 `lock incl (%rdi)`: the kernel puts no probe on it");
    EXPECT_TRUE(choose(helper(), "3effe0").refused);  // notrack jmp *%rax
    EXPECT_TRUE(choose(helper(), "cc c3").refused);
}

TEST_F(EntriesTest, NoCode) {
    auto entry = choose(helper(), "");
    EXPECT_EQ(entry.offset, 0u);
    EXPECT_EQ(entry.why, "+0: unknown instruction");
    EXPECT_EQ(choose(helper(), "0606").why, "+0: unknown instruction");
}

TEST_F(EntriesTest, Arm64) {
    struct Case {
        const char* code;
        uint64_t offset;
        const char* why;
    };
    const Case cases[] = {
        // bti c; b +8; nop; ret
        {"5f2403d5 02000014 1f2003d5 c0035fd6", 4,
         "+4 `b #8`: emulated; +0 `bti c` would be single-stepped"},
        // stp x29, x30, [sp, #-16]!; ret
        {"fd7bbfa9 c0035fd6", 0,
         "+0 `stp x29, x30, [sp, #-16]!`: single-stepped, no cheaper place"},
        // paciasp changes the return address; b +4; ret
        {"3f2303d5 01000014 c0035fd6", 0, "+0 `paciasp`: single-stepped, no cheaper place"},
        // adrp x16; ldr x17, [x16]; br x17
        {"10000090 110240f9 20021fd6", 0, "+0 `adrp x16, #0`: emulated"},
        // cmp x0, #0; b.eq +8; mov x0, #1; ret
        {"1f0000f1 40000054 200080d2 c0035fd6", 4,
         "+4 `b.eq #8`: emulated; +0 `cmp x0, #0` would be single-stepped"},
        // mov w0, #3; cbz x1, +4; ret
        {"60008052 210000b4 c0035fd6", 0, "+0 `mov w0, #3`: single-stepped, no cheaper place"},
        // ldr x9, [x0], #8; ret
        {"098440f8 c0035fd6", 0, "+0 `ldr x9, [x0], #8`: single-stepped, no cheaper place"},
        // ldr x9, [x0]; 1: cbz x9, +8; b 1b; ret
        {"090040f9 490000b4 ffffff17 c0035fd6", 0,
         "+0 `ldr x9, [x0]`: single-stepped; not +4 `cbz x9, #8`: the function jumps back to it"},
        // ldxr x9, [x0]; ret: an exclusive load is refused
        {"097c5fc8 c0035fd6", 0, "+0 `ldxr x9, [x0]`: the kernel puts no probe on it"},
    };
    for (const Case& c : cases) {
        auto entry = choose(helper(), c.code, "aarch64");
        EXPECT_EQ(entry.offset, c.offset) << c.code;
        EXPECT_EQ(entry.why, c.why);
    }
}

TEST_F(EntriesTest, AnUnknownArchitecture) {
    auto entries = helper().entries("mips64", {});
    ASSERT_FALSE(entries);
    EXPECT_EQ(entries.error().message(), "cannot disassemble the architecture `mips64`");
}

}  // namespace
}  // namespace mlbcc::bpf
