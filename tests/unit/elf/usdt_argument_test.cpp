#include "elf/usdt_argument.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mlbcc::elf {
namespace {

std::string text_of(const UsdtArgument& argument) {
    struct Text {
        std::string operator()(const UsdtUnknown& p) const { return "? " + p.why; }
        std::string operator()(const UsdtConstant& p) const { return fmt::format("{}", p.value); }
        std::string operator()(const UsdtRegister& p) const { return p.name; }
        std::string operator()(const UsdtMemory& p) const {
            const std::string index =
                p.index.empty() ? "" : fmt::format("+{}*{}", p.scale, p.index);
            return fmt::format("[{}{}{:+}]", p.base, index, p.displacement);
        }
    };
    const char sign = argument.is_signed ? 's' : 'u';
    return fmt::format("{}{} {}", sign, argument.size * 8, std::visit(Text{}, argument.place));
}

// One a line. The symbol `counter` is 4000 bytes behind the probe.
std::string parsed(std::string_view text, std::string_view machine) {
    std::string lines;
    const auto distance = [](std::string_view symbol) -> std::optional<int64_t> {
        return symbol == "counter" ? std::optional<int64_t>(4000) : std::nullopt;
    };
    for (const UsdtArgument& argument : parse_usdt_arguments(text, machine, distance)) {
        lines += (lines.empty() ? "" : "\n") + text_of(argument);
    }
    return lines;
}
std::string x86(std::string_view text) {
    return parsed(text, "x86_64");
}
std::string arm(std::string_view text) {
    return parsed(text, "aarch64");
}

TEST(UsdtArguments, OfX86InRegisters) {
    EXPECT_EQ(x86("8@%rdi -4@%edx"), "u64 rdi\ns32 rdx");
    EXPECT_EQ(x86("1@%al -2@%bx 1@%sil 2@%bp 4@%esp"), "u8 rax\ns16 rbx\nu8 rsi\nu16 rbp\nu32 rsp");
    EXPECT_EQ(x86("8@%r8 4@%r9d 2@%r10w -1@%r15b"), "u64 r8\nu32 r9\nu16 r10\ns8 r15");
}

TEST(UsdtArguments, OfX86InMemory) {
    EXPECT_EQ(x86("8@-8(%rbp)"), "u64 [rbp-8]");
    EXPECT_EQ(x86("-4@(%r12)"), "s32 [r12+0]");
    EXPECT_EQ(x86("-4@8(%rax,%rbx,4)"), "s32 [rax+4*rbx+8]");
    EXPECT_EQ(x86("8@(%rax, %rbx)"), "u64 [rax+1*rbx+0]");
    EXPECT_EQ(x86("8@0x10(,%rbx,8)"), "u64 [+8*rbx+16]");
    EXPECT_EQ(x86("8@8+-24(%rsp)"), "u64 [rsp-16]");
}

TEST(UsdtArguments, OfX86AtASymbol) {
    EXPECT_EQ(x86("8@counter(%rip)"), "u64 [pc+4000]");
    EXPECT_EQ(x86("-4@16+counter(%rip) 4@counter-8(%rip)"), "s32 [pc+4016]\nu32 [pc+3992]");
    EXPECT_EQ(x86("8@counter"), "u64 [pc+4000]");
    EXPECT_EQ(x86("8@other(%rip)"),
              "u64 ? `other(%rip)` is at the symbol `other`, which the file does not have once");
}

TEST(UsdtArguments, OfX86ThatAreConstant) {
    EXPECT_EQ(x86("-4@$5 -4@$-1 8@$0x10"), "s32 5\ns32 -1\nu64 16");
    EXPECT_EQ(x86("1@$-1 -1@$255 8@$18446744073709551615"), "u8 255\ns8 -1\nu64 -1");
}

TEST(UsdtArguments, OfArm) {
    EXPECT_EQ(arm("8@x0 -4@x1 -4@w2 8@sp 8@x30"), "u64 x0\ns32 x1\ns32 x2\nu64 sp\nu64 x30");
    EXPECT_EQ(arm("8@[x0] 8@[x0, 16] -4@[sp, #-12] 4@[sp,60]"),
              "u64 [x0+0]\nu64 [x0+16]\ns32 [sp-12]\nu32 [sp+60]");
    EXPECT_EQ(arm("8@[x0, x1] 8@[x0, x1, lsl 3] 8@[x0,x1,lsl #2]"),
              "u64 [x0+1*x1+0]\nu64 [x0+8*x1+0]\nu64 [x0+4*x1+0]");
    EXPECT_EQ(arm("-4@5 -4@-1 8@#7 4@wzr"), "s32 5\ns32 -1\nu64 7\nu32 0");
}

TEST(UsdtArguments, ThatAreNotUnderstoodSayWhy) {
    EXPECT_EQ(x86("8@%xmm0"), "u64 ? `%xmm0` is no general register");
    EXPECT_EQ(x86("1@%ah"), "u8 ? `%ah` is no general register");
    EXPECT_EQ(x86("8@%r16"), "u64 ? `%r16` is no general register");
    EXPECT_EQ(x86("8f@%xmm0"), "u0 ? `8f@%xmm0` is a floating-point value");
    EXPECT_EQ(x86("%rdi"), "u0 ? `%rdi` is without a size");
    EXPECT_EQ(x86("16@%rdi"), "u0 ? `16` is no size of an argument");
    EXPECT_EQ(x86("@%rdi"), "u0 ? `` is no size of an argument");
    EXPECT_EQ(x86("8@"), "u64 ? `` is a fixed address");
    EXPECT_EQ(x86("8@4096"), "u64 ? `4096` is a fixed address");
    EXPECT_EQ(x86("8@%fs:16(%rax)"), "u64 ? `%fs:16(%rax)` is of a form that mlbcc does not know");
    EXPECT_EQ(x86("8@8(%rax,%rbx,3)"),
              "u64 ? `8(%rax,%rbx,3)` is of a form that mlbcc does not know");
    EXPECT_EQ(x86("8@8(%rip)"), "u64 ? `8(%rip)` is of a form that mlbcc does not know");
    EXPECT_EQ(x86("8@()"), "u64 ? `()` is of a form that mlbcc does not know");
    EXPECT_EQ(x86("8@8(%rax"), "u64 ? `8(%rax` is cut off");
    EXPECT_EQ(x86("8@counter(,%rax,8)"),
              "u64 ? `counter(,%rax,8)` is an element of what is at a fixed address");
    EXPECT_EQ(x86("8@a-b(%rip)"), "u64 ? `a-b(%rip)` is of a form that mlbcc does not know");
    EXPECT_EQ(x86("8@$counter"), "u64 ? `$counter` is no number");
    EXPECT_EQ(arm("8@d0"), "u64 ? `d0` is no general register");
    EXPECT_EQ(arm("8@[x0, w1, sxtw 2]"),
              "u64 ? `[x0, w1, sxtw 2]` is of a form that mlbcc does not know");
    EXPECT_EQ(arm("8@[x0, 16"), "u64 ? `[x0, 16` is of a form that mlbcc does not know");
    EXPECT_EQ(arm("8@[x31]"), "u64 ? `[x31]` is of a form that mlbcc does not know");
    EXPECT_EQ(parsed("8@r3", "ppc64"), "u64 ? `r3` is of another machine");
}

TEST(UsdtArguments, OfAnySizeAreSafe) {
    const std::string least = "-9223372036854775808", most = "9223372036854775807";
    EXPECT_EQ(x86("8@" + most + "+1(%rax)"), "u64 [rax" + least + "]");
    EXPECT_EQ(x86("8@-" + least + "(%rax)"), "u64 [rax" + least + "]");
    EXPECT_EQ(x86("8@" + most + "+counter"), "u64 [pc-9223372036854771809]");
    EXPECT_EQ(x86(least + "@%rax"), "s0 ? `" + least + "` is no size of an argument");
    EXPECT_EQ(x86("8@99999999999999999999(%rax)"),
              "u64 ? `99999999999999999999(%rax)` is of a form that mlbcc does not know");
}

TEST(UsdtArguments, KeepTheirTextAndTheirPlaceAmongTheOthers) {
    const auto arguments = parse_usdt_arguments("  8@%xmm0\t-4@[sp, 8]  8@%rdi ", "x86_64",
                                                [](auto) { return std::nullopt; });
    ASSERT_EQ(arguments.size(), 3u);
    EXPECT_EQ(arguments[0].text, "8@%xmm0");
    EXPECT_EQ(arguments[1].text, "-4@[sp, 8]");
    EXPECT_EQ(text_of(arguments[2]), "u64 rdi");
    EXPECT_EQ(x86(""), "");
    EXPECT_EQ(x86("  "), "");
}

}  // namespace
}  // namespace mlbcc::elf
