// The unwinder on a program that nobody here built: Debian's Python, in a call through ctypes.
// Python and libffi keep no frame pointers. gdb, which has an unwinder of its own, says what is
// right.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <thread>

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/read_file.h"
#include "symbols/unwind_capture.h"

namespace mlbcc::symbols {
namespace {

constexpr const char* kPython = "/usr/bin/python3";

#ifdef __aarch64__
constexpr long kPauseCall = SYS_ppoll;
#else
constexpr long kPauseCall = SYS_pause;
#endif

// A Python that has called pause() through ctypes, and is killed at the end.
class PausedPython {
public:
    PausedPython() {
        std::string program = "import ctypes; ctypes.CDLL(None).pause()";
        std::string name = kPython, option = "-c";
        char* arguments[] = {name.data(), option.data(), program.data(), nullptr};
        if (::posix_spawn(&pid_, kPython, nullptr, nullptr, arguments, environ) != 0) pid_ = -1;
    }
    ~PausedPython() {
        if (pid_ < 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, __WALL);
    }
    PausedPython(const PausedPython&) = delete;
    PausedPython& operator=(const PausedPython&) = delete;

    int pid() const { return pid_; }
    bool wait_until_paused() const {
        std::string begin = std::to_string(kPauseCall) + " ";
        for (int tries = 0; tries < 1000; ++tries) {
            auto text = read_file("/proc/" + std::to_string(pid_) + "/syscall", 4096);
            if (text && text->starts_with(begin)) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return false;
    }
    // Nothing where ptrace is not allowed.
    std::optional<plan::UserStack> stop_and_read_registers() const {
        user_regs_struct regs{};
        iovec to{&regs, sizeof regs};
        if (::ptrace(PTRACE_SEIZE, pid_, nullptr, nullptr) != 0) return std::nullopt;
        if (::ptrace(PTRACE_INTERRUPT, pid_, nullptr, nullptr) != 0) return std::nullopt;
        if (::waitpid(pid_, nullptr, __WALL) != pid_) return std::nullopt;
        if (::ptrace(PTRACE_GETREGSET, pid_, NT_PRSTATUS, &to) != 0) return std::nullopt;
        return from(regs);
    }

private:
    static plan::UserStack from(const user_regs_struct& regs) {
#ifdef __aarch64__
        plan::UserStack stack{.ip = regs.pc, .sp = regs.sp};
        stack.saved[0] = regs.regs[29];
        stack.saved[1] = regs.regs[30];
        for (size_t i = 0; i < 10; ++i) stack.saved[2 + i] = regs.regs[19 + i];
        return stack;
#else
        return {.bytes = 0,
                .ip = regs.rip,
                .sp = regs.rsp,
                .saved = {regs.rbp, regs.rbx, regs.r12, regs.r13, regs.r14, regs.r15}};
#endif
    }
    int pid_ = -1;
};

// "#3  0x00007fcc4276eb0d in ffi_call () from ..." -> the addresses, innermost first.
std::vector<uint64_t> gdb_backtrace(int pid) {
    std::string command = "gdb -nx -q -batch -ex 'set debuginfod enabled off'"
                          " -ex 'set backtrace past-main on' -ex bt -p " +
                          std::to_string(pid) + " 2>/dev/null";
    std::vector<uint64_t> addresses;
    FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return addresses;
    char line[4096];
    while (std::fgets(line, sizeof line, pipe) != nullptr) {
        unsigned number = 0;
        unsigned long address = 0;
        if (std::sscanf(line, "#%u 0x%lx in", &number, &address) == 2 &&
            number == addresses.size()) {
            addresses.push_back(address);
        }
    }
    ::pclose(pipe);
    return addresses;
}

TEST(UnwindPython, FindsTheCallersOfACtypesCall) {
    if (::access(kPython, X_OK) != 0) GTEST_SKIP() << "there is no " << kPython;
    PausedPython python;
    ASSERT_GE(python.pid(), 0);
    ASSERT_TRUE(python.wait_until_paused());
    std::vector<uint64_t> gdb = gdb_backtrace(python.pid());
    auto registers = python.stop_and_read_registers();
    if (!registers) GTEST_SKIP() << "ptrace is not allowed";

    Capture capture;
    capture.from = *registers;
    capture.stack = read_memory(python.pid(), registers->sp, plan::kMaxStackBytes);
    ASSERT_GE(capture.stack.size(), 1024u);
    MapsFinder finder(maps_text(python.pid()), static_cast<uint32_t>(python.pid()));
    std::vector<uint64_t> addresses = unwound(capture, finder);
    std::vector<std::string> names = functions(addresses, finder);
    EXPECT_THAT(names, ::testing::IsSupersetOf({"pause", "ffi_call", "_PyObject_MakeTpCall",
                                                "_PyEval_EvalFrameDefault", "PyEval_EvalCode"}));

    capture.stack = read_memory(python.pid(), registers->sp, kWholeStack);
    std::vector<uint64_t> all = unwound(capture, finder);
    EXPECT_FALSE(cut_at(all.back()));
    if (cut_at(addresses.back())) addresses.pop_back();
    ASSERT_LE(addresses.size(), all.size());
    EXPECT_TRUE(std::equal(addresses.begin(), addresses.end(), all.begin()));
    if (gdb.empty()) return;  // it is not installed
    EXPECT_EQ(all, gdb);
}

}  // namespace
}  // namespace mlbcc::symbols
