#include "symbols/symbolize.h"

#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/read_file.h"
#include "base/unique_fd.h"
#include "symbols/unwind_capture.h"

namespace {

mlbcc::symbols::Capture captured;
size_t wanted_bytes;
volatile int barrier;
volatile std::sig_atomic_t caught_in_vdso;
std::pair<uint64_t, uint64_t> vdso;  // where it begins and ends

}  // namespace

// With C names, and not inlined, so that a test can ask for them.
extern "C" {
__attribute__((noinline)) void level_three() {
    captured = mlbcc::symbols::capture_here(wanted_bytes);
    barrier = 3;
}
__attribute__((noinline)) void level_two() {
    level_three();
    barrier = 2;
}
__attribute__((noinline)) void level_one() {
    char room[100];
    asm volatile("" : : "r"(room) : "memory");
    level_two();
    barrier = 1;
}
void on_signal(int) {
    level_three();
    barrier = 4;
}

__attribute__((noinline)) void ask_for_the_time() {
    timeval now;
    for (int i = 0; i < 1000 && caught_in_vdso == 0; ++i) gettimeofday(&now, nullptr);
    barrier = 5;
}
void on_timer(int, siginfo_t*, void* context) {
    const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    auto pc = static_cast<uint64_t>(machine.gregs[REG_RIP]);
#else
    uint64_t pc = machine.pc;
#endif
    if (caught_in_vdso != 0 || pc <= vdso.first || pc >= vdso.second) return;
    level_three();
    caught_in_vdso = 1;
}
}

namespace mlbcc::symbols {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using Frames = std::vector<std::string>;
namespace fs = std::filesystem;

std::pair<uint64_t, uint64_t> vdso_of_this_process() {
    Result<std::string> maps = read_file("/proc/self/maps", 1 << 20);
    for (const Mapping& mapping : parse_maps(maps ? *maps : "")) {
        if (mapping.path == "[vdso]") return {mapping.start, mapping.end};
    }
    return {};
}

std::string device_of(const Mapping& m) {
    return fmt::format("{:02x}:{:02x}", m.device_major, m.device_minor);
}

class Symbols : public testing::Test {
protected:
    Symbols() : folder(fs::temp_directory_path() / fmt::format("mlbcc-symbols-{}", getpid())) {
        fs::create_directories(folder);
        wanted_bytes = 1 << 20;
    }
    ~Symbols() override { fs::remove_all(folder); }

    static Frames frames(Symbolizer& symbolizer, uint32_t pid, uint64_t time = 0) {
        Stack* stack =
            symbolizer.stack(pid, time, UserStackCopy{captured.from, captured.stack}, {});
        return stack == nullptr ? Frames{} : Frames(stack->frames.begin(), stack->frames.end());
    }
    static Frames own_frames() {
        StackTable table;
        Symbolizer symbolizer(kHostArch, table, {});
        return frames(symbolizer, static_cast<uint32_t>(getpid()));
    }
    // Without what took the stack.
    static Frames from_level_three(Frames all) {
        auto first = std::ranges::find_if(
            all, [](const std::string& frame) { return frame.find("level_three") != frame.npos; });
        return Frames(first, all.end());
    }
    // A process of a /proc of our own, with the text of its maps.
    void fake_process(uint32_t pid, const std::string& maps) const {
        fs::path at = folder / std::to_string(pid);
        fs::create_directories(at);
        std::ofstream(at / "maps") << maps;
        if (!fs::exists(at / "root")) fs::create_directory_symlink("/", at / "root");
    }
    static std::string own_maps() {
        std::ifstream file("/proc/self/maps");
        return (std::stringstream() << file.rdbuf()).str();
    }
    fs::path folder;
};

TEST_F(Symbols, NameTheCallersToTheOutermost) {
    level_one();
    Frames all = from_level_three(own_frames());
    ASSERT_GE(all.size(), 5u);
    EXPECT_THAT(all[0], MatchesRegex("unit_symbols:level_three\\+0x[0-9a-f]+"));
    EXPECT_THAT(all[1], MatchesRegex("unit_symbols:level_two\\+0x[0-9a-f]+"));
    EXPECT_THAT(all[2], MatchesRegex("unit_symbols:level_one\\+0x[0-9a-f]+"));
    EXPECT_THAT(all, Contains(HasSubstr("unit_symbols:mlbcc::symbols::")));
    EXPECT_THAT(all[all.size() - 2], MatchesRegex("libc.so.6:__libc_start_main.*\\+0x[0-9a-f]+"));
    EXPECT_THAT(all.back(), MatchesRegex("unit_symbols:_start\\+0x[0-9a-f]+"));
}

TEST_F(Symbols, SayWhereTheCopyOfTheStackEnds) {
    wanted_bytes = 256;
    level_one();
    Frames all = own_frames();
    EXPECT_EQ(all.back(), "... (beyond the copied stack)");
    wanted_bytes = 0;
    level_one();
    EXPECT_THAT(own_frames(),
                ElementsAre(HasSubstr("unit_symbols:"), "... (beyond the copied stack)"));
}

TEST_F(Symbols, GoThroughASignal) {
    std::signal(SIGUSR1, on_signal);
    std::raise(SIGUSR1);
    std::signal(SIGUSR1, SIG_DFL);
    Frames all = from_level_three(own_frames());
    ASSERT_GE(all.size(), 3u);
    EXPECT_THAT(all[1], HasSubstr("on_signal"));
    EXPECT_THAT(all, Contains(HasSubstr("raise")));
    EXPECT_THAT(all.back(), HasSubstr("_start"));
}

#if defined(__x86_64__)
// push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret
constexpr unsigned char kMadeCode[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};

// The frames of level_three, called from made code at `page`; "{}" in the second is its address.
std::pair<Frames, Frames> without_and_with_perf_map(void* page, Frames (*frames)()) {
    std::memcpy(page, kMadeCode, sizeof kMadeCode);
    reinterpret_cast<void (*)(void (*)())>(page)(level_three);
    Frames unnamed = frames();
    fs::path map = fmt::format("/tmp/perf-{}.map", getpid());
    std::ofstream(map) << fmt::format("{:x} {:x} py::main:app.py\n",
                                      reinterpret_cast<uintptr_t>(page), sizeof kMadeCode);
    Frames named = frames();
    fs::remove(map);
    munmap(page, 4096);
    return {unnamed, named};
}

TEST_F(Symbols, NameCodeMadeAtRunTime) {
    void* page =
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    auto [unnamed, named] =
        without_and_with_perf_map(page, [] { return from_level_three(own_frames()); });
    ASSERT_GE(named.size(), 3u);
    EXPECT_EQ(unnamed[1], fmt::format("{:#x}", reinterpret_cast<uintptr_t>(page) + 6));
    EXPECT_EQ(named[1], "[jit]:py::main:app.py+0x6");
    EXPECT_THAT(named[2], HasSubstr("without_and_with_perf_map"));
}

// As .NET does: made code is mapped from a file in memory.
TEST_F(Symbols, NameMadeCodeInAFileInMemory) {
    UniqueFd fd(memfd_create("doublemapper", MFD_CLOEXEC));
    ASSERT_EQ(ftruncate(fd.get(), 4096), 0);
    void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, fd.get(), 0);
    ASSERT_NE(page, MAP_FAILED);
    auto [unnamed, named] =
        without_and_with_perf_map(page, [] { return from_level_three(own_frames()); });
    ASSERT_GE(named.size(), 3u);
    EXPECT_EQ(unnamed[1], "memfd:doublemapper+0x6");
    EXPECT_EQ(named[1], "[jit]:py::main:app.py+0x6");
}

// As V8 and the JVM do where the kernel can give memory names (Linux 5.17).
TEST_F(Symbols, NameMadeCodeInMemoryWithAName) {
    void* page =
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    std::memcpy(page, kMadeCode, sizeof kMadeCode);
    auto start = reinterpret_cast<uintptr_t>(page);
    reinterpret_cast<void (*)(void (*)())>(page)(level_three);
    std::string maps;
    for (const Mapping& m : code_mappings(own_maps())) {
        maps += fmt::format("{:x}-{:x} r-xp {:x} {} {} {}\n", m.start, m.end, m.offset,
                            device_of(m), m.inode, m.start == start ? "[anon:v8]" : m.path);
    }
    munmap(page, 4096);
    fs::create_directories(folder / "70/root/tmp");  // of the process, not ours
    fake_process(70, maps);
    StackTable table;
    Symbolizer symbolizer(kHostArch, table, {folder, ""});
    EXPECT_THAT(frames(symbolizer, 70), Contains("[anon:v8]+0x6"));
    std::ofstream(folder / "70/root/tmp/perf-70.map") << fmt::format("{:x} 8 f app.js:1\n", start);
    symbolizer.executed(70, 1);
    EXPECT_THAT(frames(symbolizer, 70, 2), Contains("[jit]:f app.js:1+0x6"));
}
#endif

// A signal finds the program in the kernel's helper library.
TEST_F(Symbols, GoThroughTheVdso) {
    vdso = vdso_of_this_process();
    if (vdso.second == 0) GTEST_SKIP() << "this machine has no vdso";
    wanted_bytes = 1 << 20;
    caught_in_vdso = 0;
    struct sigaction action {};
    action.sa_sigaction = on_timer;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    itimerval often{{0, 200}, {0, 200}}, never{};
    setitimer(ITIMER_REAL, &often, nullptr);
    auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (caught_in_vdso == 0 && std::chrono::steady_clock::now() < give_up) ask_for_the_time();
    setitimer(ITIMER_REAL, &never, nullptr);
    std::signal(SIGALRM, SIG_DFL);
    if (caught_in_vdso == 0) GTEST_SKIP() << "gettimeofday is a system call here";
    Frames all = from_level_three(own_frames());
    EXPECT_THAT(all, Contains(MatchesRegex("\\[vdso\\]:.*gettimeofday\\+0x[0-9a-f]+")));
    EXPECT_THAT(all, Contains(HasSubstr("ask_for_the_time")));
    EXPECT_THAT(all.back(), HasSubstr("_start"));
}

TEST_F(Symbols, AreKnownAfterAProcessHasEnded) {
    level_one();
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        pause();
        _exit(0);
    }
    StackTable table;
    Symbolizer symbolizer(kHostArch, table, {});
    Frames before = frames(symbolizer, static_cast<uint32_t>(child));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_THAT(before, Contains(HasSubstr("level_three")));
    EXPECT_EQ(frames(symbolizer, static_cast<uint32_t>(child)), before);
    symbolizer.exited_long_ago(static_cast<uint32_t>(child), 5);
    EXPECT_THAT(frames(symbolizer, static_cast<uint32_t>(child), 5),
                ElementsAre(MatchesRegex("0x[0-9a-f]+"), "..."));
}

TEST_F(Symbols, ARecordFindsTheProgramOfItsTime) {
    level_one();
    StackTable table;
    Symbolizer symbolizer(kHostArch, table, {folder, ""});
    fake_process(70, own_maps());
    Frames first = frames(symbolizer, 70, 50);
    fake_process(70, "1000-2000 r-xp 0 0:0 0 \n");
    symbolizer.forked(70, 71, 60);
    symbolizer.executed(70, 100);
    EXPECT_THAT(frames(symbolizer, 70, 150), ElementsAre(MatchesRegex("0x[0-9a-f]+"), "..."));
    EXPECT_EQ(frames(symbolizer, 70, 99), first);
    EXPECT_EQ(frames(symbolizer, 71, 150), first);  // the child's, which has no /proc at all
    symbolizer.executed_long_ago(70, 100);
    EXPECT_THAT(frames(symbolizer, 70, 99), Not(Contains(HasSubstr("level_one"))));
}

TEST_F(Symbols, SayThatAFileWasNotRead) {
    level_one();
    StackTable table;
    Symbolizer symbolizer(kHostArch, table, {folder, ""});
    const std::string own = fs::read_symlink("/proc/self/exe");
    std::string maps = own_maps();
    for (size_t at = maps.find(own); at != maps.npos; at = maps.find(own))
        maps.replace(at, own.size(), "/nowhere/app");
    fake_process(70, maps);
    const Frames all = frames(symbolizer, 70);
    EXPECT_THAT(all.front(), MatchesRegex("app\\+0x[0-9a-f]+"));
    EXPECT_EQ(all.back(), "... (beyond a file that was not read)");
}

TEST_F(Symbols, LibrariesThatCameLaterAreFound) {
    level_one();
    StackTable table;
    Symbolizer symbolizer(kHostArch, table, {folder, ""});
    fake_process(70, "1000-2000 r-xp 0 0:0 0 \n");
    EXPECT_THAT(frames(symbolizer, 70), ElementsAre(MatchesRegex("0x[0-9a-f]+"), "..."));
    fake_process(70, own_maps());
    EXPECT_THAT(frames(symbolizer, 70), Contains(HasSubstr("level_one")));
}

// /proc tells only what is there by now; each record is shown what was there at its time.
TEST_F(Symbols, ALibraryIsNotTakenForOneThatLayThere) {
    level_one();
    StackTable table;
    Symbolizer symbolizer(kHostArch, table, {folder, ""});
    std::vector<CodeMapping> maps = code_mappings(own_maps());
    const Mapping code = *find_mapping(maps, reinterpret_cast<uint64_t>(level_one));
    SeenMapping own{70,          code.start,        code.end - code.start,
                    code.offset, code.device_major, code.device_minor,
                    code.inode,  code.path};
    SeenMapping other = own;
    other.inode = 1;
    other.path = "/no/such/plugin.so";
    fake_process(70, own_maps());
    own.time_ns = 10;
    other.time_ns = 20;
    symbolizer.mapped(own);
    symbolizer.mapped(other);
    own.time_ns = 30;
    symbolizer.mapped(own);
    EXPECT_THAT(frames(symbolizer, 70, 25)[0], MatchesRegex("plugin.so\\+0x[0-9a-f]+"));
    EXPECT_THAT(frames(symbolizer, 70, 15), Contains(HasSubstr("unit_symbols:level_one+")));
    EXPECT_THAT(frames(symbolizer, 70, 35), Contains(HasSubstr("unit_symbols:level_one+")));
    fake_process(70, "1000-2000 r-xp 0 0:0 0 \n");
    other.time_ns = 40;
    symbolizer.mapped(other);
    EXPECT_THAT(frames(symbolizer, 70, 45)[0], MatchesRegex("plugin.so\\+0x[0-9a-f]+"));
    EXPECT_THAT(frames(symbolizer, 70, 35), Contains(HasSubstr("libc.so.6:")));
    for (uint64_t i = 0; i < 1000; ++i) {
        own.time_ns = 50 + 2 * i;
        other.time_ns = 51 + 2 * i;
        symbolizer.mapped(own);
        symbolizer.mapped(other);
        EXPECT_THAT(frames(symbolizer, 70, 50 + 2 * i)[0], HasSubstr("unit_symbols:"));
        EXPECT_THAT(frames(symbolizer, 70, 51 + 2 * i)[0], HasSubstr("plugin.so"));
    }
}

// The file at the path is another one by now: its symbols would be lies.
TEST_F(Symbols, AFileThatWasReplacedIsNotTaken) {
    level_one();
    std::string maps;
    for (const Mapping& m : code_mappings(own_maps())) {
        maps += fmt::format("{:x}-{:x} r-xp {:x} {} {} {}\n", m.start, m.end, m.offset,
                            device_of(m), m.inode + 1, m.path);
    }
    fake_process(70, maps);
    StackTable table;
    Symbolizer symbolizer(kHostArch, table, {folder, ""});
    Frames all = frames(symbolizer, 70);
    EXPECT_THAT(all[0], MatchesRegex("unit_symbols\\+0x[0-9a-f]+"));
    EXPECT_THAT(all, Each(Not(HasSubstr(":"))));
}

TEST_F(Symbols, RubbishStacksEnd) {
    level_one();
    StackTable table;
    Symbolizer symbolizer(kHostArch, table, {});
    auto pid = static_cast<uint32_t>(getpid());
    for (uint64_t seed = 1; seed < 3000; ++seed) {
        plan::UserStack from = captured.from;
        uint64_t mixed = seed * 0x9e3779b97f4a7c15;
        if (seed % 3 == 0) from.ip += mixed % 4096;
        if (seed % 5 == 0) from.saved[0] = from.sp + mixed % 512;
        if (seed % 7 == 0) from.sp = mixed;
        if (seed % 11 == 0) from.ip = mixed;
        std::vector<std::byte> memory = captured.stack;
        memory.resize(mixed % 2048);
        for (size_t i = 0; i < memory.size() && seed % 2 == 0; i += 1 + mixed % 97)
            memory[i] = std::byte(mixed >> (i % 56));
        from.bytes = memory.size();
        Stack* stack = symbolizer.stack(pid, 0, UserStackCopy{from, memory}, {});
        ASSERT_NE(stack, nullptr);
        EXPECT_GE(stack->frames.size(), 1u);
        EXPECT_LE(stack->frames.size(), kMaxStackFrames + 1);
    }
}

}  // namespace
}  // namespace mlbcc::symbols
