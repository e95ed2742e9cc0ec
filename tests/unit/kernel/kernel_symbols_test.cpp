#include "kernel/kernel_symbols.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "files/read_lines.h"
#include "files/scratch.h"

namespace mlbcc::kernel {
namespace {

// Not by address, as the modules of a real one are not.
constexpr const char* kKallsyms = R"(ffffffff81000000 T _text
ffffffff81000000 t __pfx_first
ffffffff81000010 T first
ffffffff81000010 T also_first
ffffffff81000100 t second.cold
ffffffff81001000 T _etext
ffffffff82000000 T _sinittext
ffffffff82000000 t start_kernel
ffffffff82001000 T _einittext
ffffffffc0000200 t b	[nvidia]
ffffffffc0000100 T a	[nvidia]
ffffffffc0100000 t bpf_prog_1	[bpf]
)";

std::string place(const KernelSymbols& symbols, uint64_t address) {
    const auto found = symbols.find(address);
    if (!found) return "nothing";
    const std::string module = found->module.empty() ? "" : fmt::format(" [{}]", found->module);
    return fmt::format("{}+{:#x}{}", found->name, found->offset, module);
}

TEST(KernelSymbols, AnAddressIsInTheFunctionBeforeIt) {
    const files::Scratch scratch;
    const auto symbols = KernelSymbols::read(scratch.write("kallsyms", kKallsyms));
    ASSERT_TRUE(symbols);
    EXPECT_EQ(place(*symbols, 0xffffffff81000010), "first+0x0");
    EXPECT_EQ(place(*symbols, 0xffffffff810000ff), "first+0xef");
    EXPECT_EQ(place(*symbols, 0xffffffff81000123), "second.cold+0x23");
    EXPECT_EQ(place(*symbols, 0xffffffff82000004), "start_kernel+0x4");
    EXPECT_EQ(place(*symbols, 0xffffffffc0000110), "a+0x10 [nvidia]");
    EXPECT_EQ(place(*symbols, 0xffffffffc0000201), "b+0x1 [nvidia]");
    EXPECT_EQ(place(*symbols, 0xffffffffc0100010), "bpf_prog_1+0x10 [bpf]");
}

TEST(KernelSymbols, NothingIsWhereNoFunctionIs) {
    const files::Scratch scratch;
    const auto symbols = KernelSymbols::read(scratch.write("kallsyms", kKallsyms));
    ASSERT_TRUE(symbols);
    EXPECT_EQ(place(*symbols, 0), "nothing");
    EXPECT_EQ(place(*symbols, 0x7f0000001000), "nothing");
    EXPECT_EQ(place(*symbols, 0xffffffff81000000), "nothing");
    EXPECT_EQ(place(*symbols, 0xffffffff81001000), "nothing") << "behind the code of vmlinux";
    EXPECT_EQ(place(*symbols, 0xffffffff82001004), "nothing") << "behind that of its start";
    EXPECT_EQ(place(*symbols, 0xffffffffc0200010), "nothing") << "too far from any";
    EXPECT_EQ(place(*symbols, ~uint64_t{0}), "nothing");
}

TEST(KernelSymbols, HiddenAddressesAreAnErrorWithItsRepair) {
    const files::Scratch scratch;
    const auto symbols = KernelSymbols::read(
        scratch.write("kallsyms", "0000000000000000 T first\n0000000000000000 t a\t[nvidia]\n"));
    ASSERT_FALSE(symbols);
    EXPECT_EQ(symbols.error().message(), "the kernel hides the addresses of its functions");
    EXPECT_EQ(symbols.error().help, "run as root or with CAP_SYSLOG, and if root does not see them "
                                    "either: sysctl -w kernel.kptr_restrict=1");
}

TEST(KernelSymbols, OfThisKernelAreWhereKallsymsSays) {
    const auto kallsyms = read_kallsyms();
    if (!kallsyms) GTEST_SKIP() << kallsyms.error().message();
    const auto symbols = KernelSymbols::from(*kallsyms);
    if (!symbols) GTEST_SKIP() << symbols.error().message();
    size_t found = 0;
    for (size_t i = 0; i < kallsyms->symbols.size(); i += 97) {
        const KallsymsName symbol = kallsyms->symbols[i];
        const auto at = symbols->find(symbol.address);
        if (!at) continue;
        EXPECT_EQ(at->offset, 0u) << symbol.name;
        if (at->name == symbol.name) ++found;
    }
    EXPECT_GT(found, kallsyms->symbols.size() / 97 * 9 / 10) << "others are aliases";
}

// ---- read_lines

std::vector<std::string> lines_of(const std::string& text) {
    const files::Scratch scratch;
    std::vector<std::string> lines;
    const auto read = files::read_lines(scratch.write("text", text),
                                        [&](std::string_view line) { lines.emplace_back(line); });
    EXPECT_TRUE(read);
    return lines;
}

TEST(ReadLines, WithAndWithoutAnEndOfTheLastOne) {
    EXPECT_EQ(lines_of(""), std::vector<std::string>{});
    EXPECT_EQ(lines_of("a\n\nb"), (std::vector<std::string>{"a", "", "b"}));
    EXPECT_EQ(lines_of("a\nb\n"), (std::vector<std::string>{"a", "b"}));
}

TEST(ReadLines, ThatAreTooLongAreLeftOut) {
    const std::string fits(65'535, 'x'), long_one(200'000, 'y');
    EXPECT_EQ(lines_of("a\n" + long_one + "\n" + fits + "\nb"),
              (std::vector<std::string>{"a", fits, "b"}));
    EXPECT_EQ(lines_of("a\n" + long_one), (std::vector<std::string>{"a"}));
}

TEST(ReadLines, SaysWhyNot) {
    const files::Scratch scratch;
    const auto none = files::read_lines(scratch.path("none"), [](std::string_view) {});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message(),
              "cannot open " + scratch.path("none") + ": No such file or directory");
    const auto folder = files::read_lines(scratch.path(), [](std::string_view) {});
    ASSERT_FALSE(folder);
    EXPECT_EQ(folder.error().message(), "cannot read " + scratch.path() + ": Is a directory");
}

}  // namespace
}  // namespace mlbcc::kernel
