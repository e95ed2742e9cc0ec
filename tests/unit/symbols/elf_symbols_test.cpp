#include "symbols/elf_symbols.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/unique_fd.h"
#include "symbols/cfi.h"

extern "C" __attribute__((noinline, used)) void a_function_of_the_test() {
    asm volatile("");
}

namespace mlbcc::symbols {
namespace {

namespace fs = std::filesystem;

std::optional<ElfSymbols> symbols_of(const std::string& path) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return ElfSymbols::read(fd.get(), {});
}

// The address of a function in its file's own terms.
uint64_t in_file(void* function) {
    Dl_info info{};
    dladdr(function, &info);
    return reinterpret_cast<uint64_t>(function) - reinterpret_cast<uint64_t>(info.dli_fbase);
}

TEST(ElfSymbols, FindsFunctions) {
    auto symbols = symbols_of("/proc/self/exe");
    ASSERT_TRUE(symbols);
    uint64_t start = in_file(reinterpret_cast<void*>(a_function_of_the_test));
    ASSERT_TRUE(symbols->find(start));
    EXPECT_EQ(symbols->find(start)->name, "a_function_of_the_test");
    EXPECT_EQ(symbols->find(start)->start, start);
    EXPECT_FALSE(symbols->find(1));
    EXPECT_FALSE(symbols->find(~uint64_t{0}));
    EXPECT_EQ(symbols->soname(), "");
}

TEST(ElfSymbols, PrefersTheNameThatPeopleKnow) {
    void* qsort_at = dlsym(dlopen("libc.so.6", RTLD_NOW), "write");
    Dl_info info{};
    ASSERT_NE(dladdr(qsort_at, &info), 0);
    auto symbols =
        symbols_of(fs::canonical(std::string(info.dli_fname).find("libc.so") == std::string::npos
                                     ? "/lib/x86_64-linux-gnu/libc.so.6"
                                     : info.dli_fname));
    ASSERT_TRUE(symbols);
    EXPECT_EQ(symbols->soname(), "libc.so.6");
    if (std::string(info.dli_fname).find("libc.so") == std::string::npos)
        return;                                                  // a sanitizer's own
    EXPECT_EQ(symbols->find(in_file(qsort_at))->name, "write");  // also called __write
}

// Known by .symtab only.
__attribute__((noinline, used)) static int a_static_function(int number) {
    asm volatile("" : "+r"(number));
    return number * 2;
}

TEST(ElfSymbols, FindStaticFunctions) {
    auto symbols = symbols_of("/proc/self/exe");
    ASSERT_TRUE(symbols);
    auto hit = symbols->find(in_file(reinterpret_cast<void*>(a_static_function)) + 1);
    ASSERT_TRUE(hit);
    EXPECT_NE(hit->name.find("a_static_function"), hit->name.npos);
}

TEST(ElfSymbols, OfOtherFilesAreNone) {
    EXPECT_FALSE(symbols_of("/proc/self/maps"));
    EXPECT_FALSE(symbols_of("/dev/null"));
    EXPECT_FALSE(symbols_of("/"));
    EXPECT_FALSE(symbols_of("/no/such/file"));
}

std::vector<std::byte> vdso() {
    const auto* start = reinterpret_cast<const std::byte*>(getauxval(AT_SYSINFO_EHDR));
    return start == nullptr ? std::vector<std::byte>()
                            : std::vector<std::byte>(start, start + 4096);
}

TEST(ElfSymbols, SurvivesBrokenFiles) {
    std::vector<std::byte> image = vdso();
    if (image.empty()) GTEST_SKIP() << "this machine has no vdso";
    constexpr uint8_t kRegs[] = {3, 6, 7, 12};
    std::mt19937 random(1);
    size_t found = 0;
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::byte> broken = image;
        for (size_t i = random() % 8; i > 0; --i)
            broken[random() % broken.size()] = std::byte(random());
        for (size_t i = random() % 4; i > 0; --i) broken[random() % 64] = std::byte(random());
        if (round % 4 == 0) broken.resize(random() % broken.size());
        if (auto symbols = ElfSymbols::read(broken)) {
            for (uint64_t at = 0; at < 8192; at += 97) found += symbols->find(at).has_value();
        }
        if (auto cfi = Cfi::read(broken)) {
            for (uint64_t at = 0; at < 8192; at += 211) found += cfi->row(at, kRegs).known;
        }
    }
    EXPECT_GT(found, 0u);
}

TEST(Demangled, KnowsTheLanguages) {
    EXPECT_EQ(demangled("_ZN3foo3barEi"), "foo::bar(int)");
    EXPECT_EQ(demangled("_ZN3std2io5Write9write_all17h0123456789abcdefE"),
              "std::io::Write::write_all");
    EXPECT_EQ(demangled("_RNvC6_123foo3bar"), "123foo::bar");
    EXPECT_EQ(demangled("_ZN3foo3barEv.cold"), "foo::bar() [clone .cold]");
    EXPECT_EQ(demangled("cuInit"), "cuInit");
    EXPECT_EQ(demangled("_Zrubbish"), "_Zrubbish");
    EXPECT_EQ(demangled("_Rubbish"), "_Rubbish");
    EXPECT_EQ(demangled(""), "");
}

}  // namespace
}  // namespace mlbcc::symbols
