// Where arguments are: "r0" a register, "s0" a word of the stack, "p0" and "ps0" behind these, "-"
// nowhere that a probe can read.
#include <gtest/gtest.h>

#include "plan/abi.h"
#include "rules/prototypes.h"

namespace mlbcc::test {
namespace {

using plan::Arch;

Prototypes prototypes() {
    Prototypes p = cuda_prototypes();
    p.record("struct big", 24, {{"long long a", 0}, {"long long b", 8}, {"long long c", 16}});
    p.record("struct two", 16, {{"long long a", 0}, {"long long b", 8}});
    p.record("struct mix", 16, {{"double d", 0}, {"long long n", 8}});
    p.record("struct packed", 8, {{"float f", 0}, {"int n", 4}});
    p.record("struct vec3", 12, {{"float x", 0}, {"float y", 4}, {"float z", 8}});
    p.record("struct vec4d", 32, {{"double v", 0, 0, 0, 4}});
    p.record("struct uneven", 16, {{"float f", 0}, {"double d", 8}});
    p.record("struct wide", 16, {{"long double v", 0}});
    p.record("struct unaligned", 9, {{"char c", 0}, {"long long n", 1}});
    p.record("union number", 8, {{"double d", 0}, {"long long n", 0}}, true);
    return p;
}

// The slots of a prototype's parameters: "r0 r1+r2 s0".
std::string slots(Arch arch, const std::string& prototype) {
    Prototypes p = prototypes();
    p.add(prototype);
    size_t open = prototype.find('(');
    size_t begin = prototype.find_last_of(" *", open) + 1;
    const auto* signature = p.table().function(prototype.substr(begin, open - begin));
    std::string out;
    for (const auto& words : plan::locate_arguments(*signature, p.table(), arch)) {
        if (!out.empty()) out += " ";
        for (size_t i = 0; i < words.size(); ++i) {
            out += (i == 0 ? "" : "+") + plan::to_text(words[i]);
        }
    }
    return out;
}

std::string known(Arch arch, const std::string& function) {
    Prototypes p = prototypes();
    const auto* signature = p.table().function(function);
    std::string out;
    for (const auto& words : plan::locate_arguments(*signature, p.table(), arch)) {
        for (const auto& one : words) out += plan::to_text(one) + " ";
    }
    return out;
}

std::string x86(const std::string& prototype) {
    return slots(Arch::x86_64, prototype);
}
std::string arm(const std::string& prototype) {
    return slots(Arch::arm64, prototype);
}

TEST(Abi, CuLaunchKernel) {
    EXPECT_EQ(known(Arch::x86_64, "cuLaunchKernel"), "r0 r1 r2 r3 r4 r5 s0 s1 s2 s3 s4 ");
    EXPECT_EQ(known(Arch::arm64, "cuLaunchKernel"), "r0 r1 r2 r3 r4 r5 r6 r7 s0 s1 s2 ");
}

TEST(Abi, CudaLaunchKernelTakesEachDim3InTwoWords) {
    EXPECT_EQ(known(Arch::x86_64, "cudaLaunchKernel"), "r0 r1 r2 r3 r4 r5 s0 s1 ");
    EXPECT_EQ(known(Arch::arm64, "cudaLaunchKernel"), "r0 r1 r2 r3 r4 r5 r6 r7 ");
}

TEST(Abi, FloatsTakeNoIntegerRegister) {
    EXPECT_EQ(x86("int f(int a, float b, int c, double d, int *e)"), "r0 - r1 - r2");
    EXPECT_EQ(arm("int f(int a, float b, int c, double d, int *e)"), "r0 - r1 - r2");
    EXPECT_EQ(x86("int f(double a, double b, double c, double d, double e, double f, double g, "
                  "double h, double i, int j)"),
              "- - - - - - - - s0 r0");
    EXPECT_EQ(arm("int f(double a, double b, double c, double d, double e, double f, double g, "
                  "double h, double i, int j)"),
              "- - - - - - - - s0 r0");
    EXPECT_EQ(x86("int f(int a, long double b, int c)"), "r0 s0+s1 r1");
    EXPECT_EQ(arm("int f(int a, long double b, int c)"), "r0 -+- r1");
}

TEST(Abi, AStructOfOneOrTwoWordsIsInRegisters) {
    EXPECT_EQ(x86("int f(struct two a, int b)"), "r0+r1 r2");
    EXPECT_EQ(arm("int f(struct two a, int b)"), "r0+r1 r2");
    EXPECT_EQ(x86("int f(struct mix a, int b)"), "-+r0 r1");
    EXPECT_EQ(arm("int f(struct mix a, int b)"), "r0+r1 r2");
    EXPECT_EQ(x86("int f(struct packed a, int b)"), "r0 r1");
    EXPECT_EQ(x86("int f(union number a, int b)"), "r0 r1");
    EXPECT_EQ(arm("int f(union number a, int b)"), "r0 r1");
}

TEST(Abi, AStructIsWhollyInRegistersOrWhollyOnTheStack) {
    EXPECT_EQ(x86("int f(int a, int b, int c, int d, int e, struct two g, int h)"),
              "r0 r1 r2 r3 r4 s0+s1 r5");
    EXPECT_EQ(arm("int f(int a, int b, int c, int d, int e, int f, int g, struct two h, int i)"),
              "r0 r1 r2 r3 r4 r5 r6 s0+s1 s2");
}

TEST(Abi, AStructOfMoreThanTwoWordsIsInMemory) {
    EXPECT_EQ(x86("int f(int a, struct big b, int c)"), "r0 s0+s1+s2 r1");
    EXPECT_EQ(arm("int f(int a, struct big b, int c)"), "r0 p1+p1+p1 r2");
    EXPECT_EQ(arm("int f(int a, int b, int c, int d, int e, int f, int g, int h, struct big i, "
                  "int j)"),
              "r0 r1 r2 r3 r4 r5 r6 r7 ps0+ps0+ps0 s1");
}

TEST(Abi, WhatIsAlignedToSixteenBytesBeginsAtAnEvenWord) {
    EXPECT_EQ(x86("int f(int a, __int128 b, int c)"), "r0 r1+r2 r3");
    EXPECT_EQ(arm("int f(int a, __int128 b, int c)"), "r0 r2+r3 r4");
    EXPECT_EQ(
        x86("int f(int a, int b, int c, int d, int e, __int128 f, int g, int h, long double i)"),
        "r0 r1 r2 r3 r4 s0+s1 r5 s2 s4+s5");
    EXPECT_EQ(arm("int f(int a, int b, int c, int d, int e, int f, int g, __int128 h, int i, "
                  "__int128 j)"),
              "r0 r1 r2 r3 r4 r5 r6 s0+s1 s2 s4+s5");
}

TEST(Abi, X86PassesSomeStructsOfTwoWordsInMemory) {
    EXPECT_EQ(x86("int f(struct wide a, int b)"), "s0+s1 r0");
    EXPECT_EQ(x86("int f(struct unaligned a, int b)"), "s0+s1 r0");
    EXPECT_EQ(arm("int f(struct wide a, int b)"), "-+- r0");
    EXPECT_EQ(arm("int f(struct unaligned a, int b)"), "r0+r1 r2");
}

TEST(Abi, Arm64PassesUpToFourFloatsOfOneSizeInVectorRegisters) {
    EXPECT_EQ(arm("int f(struct vec3 v, int a)"), "-+- r0");
    EXPECT_EQ(arm("int f(struct vec4d v, int a)"), "-+-+-+- r0");
    EXPECT_EQ(arm("int f(struct uneven v, int a)"), "r0+r1 r2");
    EXPECT_EQ(arm("int f(struct vec4d v, struct vec4d w, double d, int a)"),
              "-+-+-+- -+-+-+- s0 r0");
    EXPECT_EQ(arm("int f(struct vec4d v, struct vec3 w, struct vec3 x, float d, int a)"),
              "-+-+-+- -+- s0+s1 s2 r0")
        << "once one is on the stack, later ones are too";
    EXPECT_EQ(x86("int f(struct vec3 v, int a)"), "-+- r0");
    EXPECT_EQ(x86("int f(struct vec4d v, int a)"), "s0+s1+s2+s3 r0");
}

TEST(Abi, ALargeResultTakesTheFirstRegisterOfX86) {
    EXPECT_EQ(x86("struct big f(int a, int b)"), "r1 r2");
    EXPECT_EQ(arm("struct big f(int a, int b)"), "r0 r1");
    EXPECT_EQ(x86("struct two f(int a)"), "r0");
    EXPECT_EQ(x86("long double f(int a)"), "r0");
    EXPECT_EQ(x86("struct big f(int a, int b, int c, int d, int e, int g)"), "r1 r2 r3 r4 r5 s0");
}

TEST(Abi, WithoutAPrototypeArgumentsAreWords) {
    EXPECT_EQ(plan::to_text(plan::locate_argument(5, Arch::x86_64)), "r5");
    EXPECT_EQ(plan::to_text(plan::locate_argument(6, Arch::x86_64)), "s0");
    EXPECT_EQ(plan::to_text(plan::locate_argument(7, Arch::arm64)), "r7");
    EXPECT_EQ(plan::to_text(plan::locate_argument(9, Arch::arm64)), "s1");
}

TEST(Abi, WordsCountRegistersFirst) {
    using Kind = plan::ArgSlot::Kind;
    EXPECT_EQ(plan::word_index({Kind::reg, 4}, Arch::x86_64), 4u);
    EXPECT_EQ(plan::word_index({Kind::stack, 2}, Arch::x86_64), 8u);
    EXPECT_EQ(plan::word_index({Kind::stack, 2}, Arch::arm64), 10u);
    EXPECT_EQ(plan::word_index({Kind::pointer, 3}, Arch::arm64), 3u);
    EXPECT_EQ(plan::word_index({Kind::stack_pointer, 1}, Arch::arm64), 9u);
    EXPECT_EQ(plan::argument_registers(Arch::x86_64), 6u);
    EXPECT_EQ(plan::argument_registers(Arch::arm64), 8u);
}

}  // namespace
}  // namespace mlbcc::test
