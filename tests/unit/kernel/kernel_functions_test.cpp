#include "kernel/kernel_functions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "files/scratch.h"

namespace mlbcc::kernel {
namespace {

constexpr const char* kKallsyms = R"(ffffffff81000000 T startup_64
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000010 T __entry_text_start
ffffffff81000010 T entry_SYSCALL_64
ffffffff81000100 T __entry_text_end
ffffffff81000190 t __pfx_vfs_read
ffffffff810001a0 T vfs_read
ffffffff81000200 t reset
ffffffff81000300 t reset
ffffffff81000400 W arch_nothing
ffffffff81000500 t parse.isra.0
ffffffff81000600 t parse.constprop.0
ffffffff81000700 t parse.cold
ffffffff81000800 t grow.part.0.cold.3
ffffffff81000900 T __SCT__tp_func_x
ffffffff81001000 T _etext
ffffffff81002000 D some_data
ffffffff81002100 r some_text
ffffffff83000000 T _sinittext
ffffffff83000000 t start_kernel
ffffffff83001000 T _einittext
ffffffffc0000000 t nvidia_ioctl.constprop.0	[nvidia]
ffffffffc0000100 T nvidia_open	[nvidia]
ffffffffc0000200 t reset	[nvidia]
ffffffffc0001000 t bpf_prog_6deef7357e7b4530	[bpf]
ffffffffc0002000 t ftrace_trampoline	[__builtin__ftrace]
)";

// A machine's files, each where KernelFunctions looks for it.
class Machine {
public:
    KernelFunctionFiles files() const {
        return {scratch_.path("tracefs"), scratch_.path("kallsyms"), scratch_.path("blacklist")};
    }
    void kallsyms(const std::string& text) const { scratch_.write("kallsyms", text); }
    void blacklist(const std::string& text) const { scratch_.write("blacklist", text); }
    void tracefs(const std::string& name, const std::string& text) const {
        scratch_.write("tracefs/" + name, text);
    }
    std::string path(const std::string& name) const { return scratch_.path(name); }

    // One a line: "parse.isra.0 (parse) [module] at 500, ambiguous, blacklisted"
    std::string find(const std::string& pattern) const {
        const auto functions = KernelFunctions::read(files());
        if (!functions) return functions.error().message() + " / " + functions.error().help;
        std::string text;
        for (const LiveFunction& one : functions->find(pattern)) {
            text += one.symbol;
            if (one.name != one.symbol) text += fmt::format(" ({})", one.name);
            if (!one.module.empty()) text += fmt::format(" [{}]", one.module);
            if (one.address != 0) text += fmt::format(" at {:x}", one.address & 0xffffff);
            if (one.is_ambiguous) text += ", ambiguous";
            if (one.is_blacklisted) text += ", blacklisted";
            text += '\n';
        }
        return text;
    }

private:
    files::Scratch scratch_;
};

TEST(KernelFunctions, OfKallsymsAreThoseThatACallEnters) {
    const Machine machine;
    machine.kallsyms(kKallsyms);
    EXPECT_EQ(machine.find("*"), "arch_nothing at 400\n"
                                 "entry_SYSCALL_64 at 10, blacklisted\n"
                                 "nvidia_ioctl.constprop.0 (nvidia_ioctl) [nvidia] at 0\n"
                                 "nvidia_open [nvidia] at 100\n"
                                 "parse.constprop.0 (parse) at 600\n"
                                 "parse.isra.0 (parse) at 500\n"
                                 "reset at 200, ambiguous\n"
                                 "reset at 300, ambiguous\n"
                                 "reset [nvidia] at 200, ambiguous\n"
                                 "startup_64 at 0\n"
                                 "vfs_read at 1a0\n");
    const auto functions = KernelFunctions::read(machine.files());
    EXPECT_EQ(functions->source(), machine.path("kallsyms"));
    EXPECT_FALSE(functions->is_from_ftrace());
    EXPECT_EQ(functions->names(), (std::vector<std::string>{"arch_nothing", "entry_SYSCALL_64",
                                                            "nvidia_ioctl", "nvidia_open", "parse",
                                                            "reset", "startup_64", "vfs_read"}));
}

TEST(KernelFunctions, AreFoundByTheirNameInTheSourceAndByTheirSymbol) {
    const Machine machine;
    machine.kallsyms(kKallsyms);
    EXPECT_EQ(machine.find("parse"), "parse.constprop.0 (parse) at 600\n"
                                     "parse.isra.0 (parse) at 500\n");
    EXPECT_EQ(machine.find("parse.isra.0"), "parse.isra.0 (parse) at 500\n");
    EXPECT_EQ(machine.find("nvidia_[ix]*"),
              "nvidia_ioctl.constprop.0 (nvidia_ioctl) [nvidia] at 0\n");
    EXPECT_EQ(machine.find("vfs"), "");
}

TEST(KernelFunctions, PartsThatTheFunctionItselfCallsAreNotCountedBesideIt) {
    const Machine machine;
    machine.kallsyms("ffffffff81000000 T _text\n");
    machine.tracefs("available_filter_functions", "uvm_ioctl [nvidia_uvm]\n"
                                                  "uvm_ioctl.part.0 [nvidia_uvm]\n"
                                                  "uvm_open.part.0 [nvidia_uvm]\n"
                                                  "uvm_open\n");
    EXPECT_EQ(machine.find("uvm_ioctl"), "uvm_ioctl [nvidia_uvm]\n");
    EXPECT_EQ(machine.find("uvm_*"), "uvm_ioctl [nvidia_uvm]\n"
                                     "uvm_open\n"
                                     "uvm_open.part.0 (uvm_open) [nvidia_uvm]\n");
    EXPECT_EQ(machine.find("uvm_ioctl.part.0"), "uvm_ioctl.part.0 (uvm_ioctl) [nvidia_uvm]\n");
}

TEST(KernelFunctions, OfFtraceComeFirst) {
    const Machine machine;
    machine.kallsyms(kKallsyms);
    machine.tracefs("available_filter_functions", "vfs_read\n"
                                                  "parse.cold\n"
                                                  "__ftrace_invalid_address___64\n"
                                                  "nvidia_open [nvidia]\n");
    EXPECT_EQ(machine.find("*"), "nvidia_open [nvidia]\nvfs_read\n");
    EXPECT_TRUE(KernelFunctions::read(machine.files())->is_from_ftrace());
    machine.tracefs("available_filter_functions_addrs", "ffffffff810001a0 vfs_read\n"
                                                        "no line of this file\n"
                                                        "ffffffffc0000100 nvidia_open [nvidia]\n");
    EXPECT_EQ(machine.find("*"), "nvidia_open [nvidia] at 100\nvfs_read at 1a0\n");
}

TEST(KernelFunctions, OfTheBlacklistAreMarked) {
    const Machine machine;
    machine.kallsyms(kKallsyms);
    machine.blacklist("0x0000000000000000-0x0000000000000000\tvfs_read\n"
                      "0x0000000000000000-0x0000000000000000\tnvidia_open [nvidia]\n"
                      "0x0000000000000000-0x0000000000000000\treset [nvidia]\n");
    EXPECT_EQ(machine.find("vfs_read"), "vfs_read at 1a0, blacklisted\n");
    EXPECT_EQ(machine.find("nvidia_open"), "nvidia_open [nvidia] at 100, blacklisted\n");
    EXPECT_EQ(machine.find("reset"), "reset at 200, ambiguous\n"
                                     "reset at 300, ambiguous\n"
                                     "reset [nvidia] at 200, ambiguous, blacklisted\n");
}

// kernel.kptr_restrict hides addresses, not names.
TEST(KernelFunctions, AreKnownWithoutAddresses) {
    const Machine machine;
    machine.kallsyms("0000000000000000 T _text\n0000000000000000 T _sinittext\n"
                     "0000000000000000 T vfs_read\n0000000000000000 t reset\n");
    EXPECT_EQ(machine.find("*"), "reset\nvfs_read\n");
}

TEST(KernelFunctions, SayWhyThereAreNone) {
    const Machine machine;
    EXPECT_EQ(machine.find("*"),
              "cannot open " + machine.path("kallsyms") + ": No such file or directory / ");
    machine.kallsyms("hello\n\n[]\nffffffff81000000\nffffffff81000000 T \nffff T\n"
                     "ffffffff81002000 D some_data\n");
    EXPECT_EQ(machine.find("*"), machine.path("kallsyms") + " has no functions / the kernel has "
                                                            "to be built with CONFIG_KALLSYMS");
}

TEST(KernelFunctions, OfThisKernel) {
    const auto functions = KernelFunctions::read();
    if (!functions) GTEST_SKIP() << functions.error().message();
    EXPECT_GT(functions->size(), 10'000u);
    const auto found = functions->find("vfs_read");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].module, "");
    EXPECT_FALSE(found[0].is_ambiguous || found[0].is_blacklisted);
    EXPECT_TRUE(functions->find("_text").empty());
}

TEST(WithoutSuffix, IsTheNameInTheSource) {
    EXPECT_EQ(without_suffix("a.constprop.0.isra.1"), "a");
    EXPECT_EQ(without_suffix("a"), "a");
    EXPECT_EQ(without_suffix(".slowpath"), ".slowpath");
}

}  // namespace
}  // namespace mlbcc::kernel
