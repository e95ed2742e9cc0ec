// The unwinder on stacks of this very program, against libgcc's; and on stacks that are damaged,
// cut off or made up.
#include "event/unwind.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "event/unwind_capture.h"

namespace mlbcc::event {
namespace {

using ::testing::Contains;
using ::testing::ElementsAreArray;

constexpr size_t kWholeStack = 1 << 20;  // ends where the stack does
using Work = std::function<void()>;

// ---- functions with frames of different shapes

#ifdef __clang__
#define MLBCC_NO_FRAME_POINTER [[gnu::noinline]]
#else
#define MLBCC_NO_FRAME_POINTER [[gnu::noinline, gnu::optimize("O2", "omit-frame-pointer")]]
#endif

// Keeps a value in use, and the call before it from being a jump.
template <class T> void keep(T& value) {
    asm volatile("" : : "r"(&value) : "memory");
}

extern "C" MLBCC_NO_FRAME_POINTER void unwind_chain_plain(const Work& work) {
    work();
    keep(work);
}

extern "C" MLBCC_NO_FRAME_POINTER void unwind_chain_aligned(const Work& work) {
    alignas(128) char line[128] = {};
    keep(line);
    unwind_chain_plain(work);
    keep(line);
}

extern "C" MLBCC_NO_FRAME_POINTER void unwind_chain_alloca(const Work& work, size_t size) {
    void* room = __builtin_alloca(size);
    keep(room);
    unwind_chain_aligned(work);
    keep(room);
}

extern "C" MLBCC_NO_FRAME_POINTER uint64_t unwind_chain_registers(const Work& work, uint64_t a) {
    uint64_t b = a * 3, c = a ^ 5, d = a + 7, e = a * a, f = a - 9, g = a | 1;
    keep(a);
    unwind_chain_alloca(work, 72);
    return a + b * c + d * e + f * g;  // all of them outlive the call
}

Capture capture_in_chain(size_t bytes) {
    Capture capture;
    unwind_chain_registers([&] { capture = capture_here(bytes); }, 42);
    return capture;
}

MapsFinder own_finder() {
    return {maps_text(::getpid()), static_cast<uint32_t>(::getpid())};
}

// ---- whole stacks

TEST(Unwinder, FindsTheAddressesThatLibgccFinds) {
    Capture capture = capture_in_chain(kWholeStack);
    MapsFinder finder = own_finder();
    EXPECT_THAT(unwound(capture, finder), ElementsAreArray(capture.peer));
}

TEST(Unwinder, NamesTheCallersInOrder) {
    Capture capture = capture_in_chain(kWholeStack);
    MapsFinder finder = own_finder();
    std::vector<std::string> names = functions(unwound(capture, finder), finder);
    std::erase_if(names, [](const std::string& name) { return !name.starts_with("unwind_chain"); });
    EXPECT_THAT(names, ::testing::ElementsAre("unwind_chain_plain", "unwind_chain_aligned",
                                              "unwind_chain_alloca", "unwind_chain_registers"));
}

TEST(Unwinder, GoesThroughALibrarysFrames) {
    static Capture capture;
    int numbers[] = {3, 1, 2};
    std::qsort(numbers, 3, sizeof(int), [](const void* a, const void* b) {
        if (capture.peer.empty()) capture = capture_here(kWholeStack);
        return *static_cast<const int*>(a) - *static_cast<const int*>(b);
    });
    MapsFinder finder = own_finder();
    std::vector<uint64_t> addresses = unwound(capture, finder);
    EXPECT_THAT(addresses, ElementsAreArray(capture.peer));
    EXPECT_THAT(functions(addresses, finder), Contains(::testing::HasSubstr("qsort")));
}

TEST(Unwinder, ReachesTheBeginningOfAThread) {
    Capture capture;
    std::thread([&] { capture = capture_in_chain(kWholeStack); }).join();
    MapsFinder finder = own_finder();
    EXPECT_THAT(unwound(capture, finder), ElementsAreArray(capture.peer));
}

TEST(Unwinder, GoesThroughASignalHandlersFrame) {
    static Capture capture;
    auto previous = std::signal(SIGUSR1, [](int) { capture = capture_here(kWholeStack); });
    unwind_chain_plain([] { ::raise(SIGUSR1); });
    std::signal(SIGUSR1, previous);
    MapsFinder finder = own_finder();
    std::vector<uint64_t> addresses = unwound(capture, finder);
    EXPECT_THAT(addresses, ElementsAreArray(capture.peer));
    EXPECT_THAT(functions(addresses, finder), Contains("unwind_chain_plain"));
}

#ifdef __x86_64__
// As the loader's own trampoline does it (sysdeps/x86_64/dl-trampoline.h): rbx is the way back, and
// what is called may leave rbx alone all the way down.
extern "C" void unwind_rbx_frame(void (*function)(void*), void* argument);
asm(R"(
    .text
    .globl unwind_rbx_frame
    .type unwind_rbx_frame, @function
unwind_rbx_frame:
    .cfi_startproc
    endbr64
    push %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbx, 0
    mov %rsp, %rbx
    .cfi_def_cfa_register rbx
    and $-64, %rsp
    mov %rdi, %rax
    mov %rsi, %rdi
    call unwind_rbx_untouched
    mov %rbx, %rsp
    .cfi_def_cfa_register rsp
    pop %rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore rbx
    ret
    .cfi_endproc
    .size unwind_rbx_frame, .-unwind_rbx_frame
    .type unwind_rbx_untouched, @function
unwind_rbx_untouched:
    .cfi_startproc
    sub $8, %rsp
    .cfi_adjust_cfa_offset 8
    call *%rax
    add $8, %rsp
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .size unwind_rbx_untouched, .-unwind_rbx_untouched
)");

TEST(Unwinder, KeepsARegisterThatNoCalleeMentions) {
    Capture capture;
    unwind_rbx_frame([](void* to) { *static_cast<Capture*>(to) = capture_here(kWholeStack); },
                     &capture);
    MapsFinder finder = own_finder();
    EXPECT_THAT(unwound(capture, finder), ElementsAreArray(capture.peer));
}

// A trap as a function's first instruction: its address minus one belongs to another function,
// whose frame is of another shape.
extern "C" void unwind_trap();
asm(R"(
    .text
    .type unwind_before_trap, @function
unwind_before_trap:
    .cfi_startproc
    sub $4096, %rsp
    .cfi_adjust_cfa_offset 4096
    ud2
    .cfi_endproc
    .size unwind_before_trap, .-unwind_before_trap
    .globl unwind_trap
    .type unwind_trap, @function
unwind_trap:
    .cfi_startproc
    ud2
    ret
    .cfi_endproc
    .size unwind_trap, .-unwind_trap
)");

TEST(Unwinder, TakesTheInterruptedInstructionAsItStands) {
    static Capture capture;
    struct sigaction action {
    }, previous{};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t*, void* context) {
        capture = capture_here(kWholeStack);
        static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] += 2;  // behind the ud2
    };
    ASSERT_EQ(::sigaction(SIGILL, &action, &previous), 0);
    unwind_chain_plain([] { unwind_trap(); });
    ::sigaction(SIGILL, &previous, nullptr);
    MapsFinder finder = own_finder();
    EXPECT_THAT(unwound(capture, finder), ElementsAreArray(capture.peer));
}
#endif

TEST(Unwinder, WorksOnAProcessThatHasExited) {
    struct Saved {
        plan::UserStack from;
        size_t stack_size, peer_size, maps_size;
        std::byte stack[16384];
        uint64_t peer[128];
        char maps[65536];
    };
    void* memory =
        ::mmap(nullptr, sizeof(Saved), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto& saved = *static_cast<Saved*>(memory);
    int child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        Capture capture = capture_in_chain(sizeof saved.stack);
        std::string maps = maps_text(::getpid());
        saved.from = capture.from;
        saved.stack_size = std::min(capture.stack.size(), sizeof saved.stack);
        saved.peer_size = std::min(capture.peer.size(), std::size(saved.peer));
        saved.maps_size = std::min(maps.size(), sizeof saved.maps);
        std::memcpy(saved.stack, capture.stack.data(), saved.stack_size);
        std::copy_n(capture.peer.begin(), saved.peer_size, saved.peer);
        std::memcpy(saved.maps, maps.data(), saved.maps_size);
        ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    MapsFinder finder({saved.maps, saved.maps_size}, static_cast<uint32_t>(child));
    Capture capture;
    capture.from = saved.from;
    capture.stack.assign(saved.stack, saved.stack + saved.stack_size);
    EXPECT_THAT(unwound(capture, finder), ElementsAreArray(saved.peer, saved.peer_size));
    ::munmap(memory, sizeof(Saved));
}

// ---- stacks that are cut off or damaged

TEST(Unwinder, SaysWhereTheCopyOfTheStackEnded) {
    Capture whole = capture_in_chain(kWholeStack);
    MapsFinder finder = own_finder();
    std::vector<uint64_t> all = unwound(whole, finder);
    ASSERT_EQ(all, whole.peer);
    size_t longest = 0;
    for (size_t bytes = 0; bytes < std::min<size_t>(whole.stack.size(), 8192); bytes += 8) {
        Capture part = whole;
        part.stack.resize(bytes);
        std::vector<uint64_t> some = unwound(part, finder);
        if (some == all) break;
        ASSERT_GE(some.size(), 2u);
        ASSERT_EQ(some.back(), kCutAddress) << bytes;
        some.pop_back();
        ASSERT_LE(some.size(), all.size());
        ASSERT_TRUE(std::equal(some.begin(), some.end(), all.begin())) << bytes;
        ASSERT_GE(some.size(), longest) << bytes;
        longest = some.size();
    }
    EXPECT_GE(longest, 4u);
}

TEST(Unwinder, EndsAtTheKernelsReturnTrampoline) {
    Capture capture = capture_in_chain(kWholeStack);
    constexpr uint64_t kTrampoline = 0x7fffffffe000;  // where the kernel puts it
    std::string maps =
        maps_text(::getpid()) + "7fffffffe000-7ffffffff000 --xp 00000000 00:00 0 [uprobes]\n";
    MapsFinder finder(maps, static_cast<uint32_t>(::getpid()));
    uint64_t replaced = capture.peer[3];
    std::vector<std::byte> word(sizeof replaced), other(sizeof replaced);
    std::memcpy(word.data(), &replaced, sizeof replaced);
    std::memcpy(other.data(), &kTrampoline, sizeof kTrampoline);
    auto at = std::search(capture.stack.begin(), capture.stack.end(), word.begin(), word.end());
    ASSERT_NE(at, capture.stack.end());
    std::copy(other.begin(), other.end(), at);
    std::vector<uint64_t> expected(capture.peer.begin(), capture.peer.begin() + 3);
    expected.push_back(kCutAddress);
    EXPECT_EQ(unwound(capture, finder), expected);
}

// All but the end of a walk lies in code, whatever the stack and the registers say.
void expect_sound(const Capture& capture, MapsFinder& finder, int seed) {
    std::vector<uint64_t> addresses = unwound(capture, finder);
    ASSERT_FALSE(addresses.empty()) << seed;
    ASSERT_LE(addresses.size(), kMaxStackFrames + 1) << seed;
    ASSERT_EQ(addresses.front(), capture.from.ip) << seed;
    if (addresses.back() == kCutAddress) addresses.pop_back();
    for (size_t i = 1; i < addresses.size(); ++i) {
        bool code = finder.is_executable(addresses[i]) || finder.is_executable(addresses[i] - 1);
        ASSERT_TRUE(code) << "seed " << seed << ", frame " << i << " of " << addresses.size();
    }
}

TEST(Unwinder, SurvivesDamagedStacks) {
    const Capture whole = capture_in_chain(8192);
    MapsFinder finder = own_finder();
    for (int seed = 0; seed < 10000; ++seed) {
        std::mt19937_64 random(static_cast<uint64_t>(seed));
        Capture damaged = whole;
        for (uint64_t words = 1 + random() % 64; words > 0; --words) {
            uint64_t value = random() % 4 == 0 ? random() : whole.from.sp + random() % 8192;
            if (random() % 3 == 0) value = whole.peer[random() % whole.peer.size()];
            size_t at = random() % (damaged.stack.size() - sizeof value);
            std::memcpy(damaged.stack.data() + at, &value, sizeof value);
        }
        ASSERT_NO_FATAL_FAILURE(expect_sound(damaged, finder, seed));
    }
}

TEST(Unwinder, SurvivesRegistersThatMakeNoSense) {
    const Capture whole = capture_in_chain(8192);
    MapsFinder finder = own_finder();
    const uint64_t extremes[] = {0, 1, 7, 8, ~uint64_t{0}, ~uint64_t{7}, uint64_t{1} << 63};
    for (int seed = 0; seed < 10000; ++seed) {
        std::mt19937_64 random(static_cast<uint64_t>(seed));
        auto any = [&]() -> uint64_t {
            switch (random() % 4) {
            case 0: return random();
            case 1: return extremes[random() % std::size(extremes)];
            case 2: return whole.peer[random() % whole.peer.size()] + random() % 64;
            default: return whole.from.sp + random() % 16384 - 4096;
            }
        };
        Capture wild = whole;
        if (random() % 2 == 0) wild.from.ip = any();
        if (random() % 2 == 0) wild.from.sp = any();
        for (uint64_t& value : wild.from.saved) {
            if (random() % 2 == 0) value = any();
        }
        wild.stack.resize(random() % wild.stack.size());
        ASSERT_NO_FATAL_FAILURE(expect_sound(wild, finder, seed));
    }
}

TEST(Unwinder, StopsAtTheMostFrames) {
    Capture capture;
    std::function<void(int)> descend = [&](int depth) {
        if (depth == 0) {
            capture = capture_here(kWholeStack);
        } else {
            descend(depth - 1);
        }
        keep(capture);
    };
    descend(200);
    MapsFinder finder = own_finder();
    std::vector<uint64_t> addresses = unwound(capture, finder);
    ASSERT_EQ(addresses.size(), kMaxStackFrames + 1);
    EXPECT_EQ(addresses.back(), kCutAddress);
    addresses.pop_back();
    EXPECT_TRUE(std::equal(addresses.begin(), addresses.end(), capture.peer.begin()));
}

// ---- code without call frame information

// All of [0x10000, 0x20000) is code that was made at run time.
class MadeCode : public CodeFinder {
public:
    Code code_at(uint64_t address) override {
        return {address >= 0x10000 && address < 0x20000, nullptr, 0};
    }
};

Capture made_stack(uint64_t sp, uint64_t frame_pointer, std::initializer_list<uint64_t> words) {
    Capture capture;
    capture.from.ip = 0x10010;
    capture.from.sp = sp;
    capture.from.saved[0] = frame_pointer;
    capture.stack.resize(words.size() * 8);
    std::memcpy(capture.stack.data(), words.begin(), capture.stack.size());
    return capture;
}

std::vector<uint64_t> walk_made(const Capture& capture) {
    MadeCode finder;
    return unwound(capture, finder);
}

TEST(Unwinder, FollowsFramePointersWithoutCallFrameInformation) {
    //                                 0x7000  8   0x7010   18       0x7020  28
    Capture capture = made_stack(0x7000, 0x7010, {1, 2, 0x7020, 0x10020, 0, 0x10030});
    EXPECT_EQ(walk_made(capture), (std::vector<uint64_t>{0x10010, 0x10020, 0x10030, kCutAddress}));
}

TEST(Unwinder, AReturnAddressOfZeroIsTheOutermostFrame) {
    Capture capture = made_stack(0x7000, 0x7000, {0x7010, 0x10020, 0, 0});
    EXPECT_EQ(walk_made(capture), (std::vector<uint64_t>{0x10010, 0x10020}));
}

TEST(Unwinder, AFramePointerThatLeadsBackEndsTheWalk) {
    Capture capture = made_stack(0x7000, 0x7010, {1, 2, 0x7010, 0x10020});
    EXPECT_EQ(walk_made(capture), (std::vector<uint64_t>{0x10010, 0x10020, kCutAddress}));
}

TEST(Unwinder, AFramePointerBelowTheStackPointerEndsTheWalk) {
    Capture capture = made_stack(0x7000, 0x7010, {0x7000, 0x10020, 0x7000, 0x10030});
    EXPECT_EQ(walk_made(capture), (std::vector<uint64_t>{0x10010, 0x10030, kCutAddress}));
}

TEST(Unwinder, AFramePointerIntoOtherDataEndsTheWalk) {
    Capture capture = made_stack(0x7000, 0x7000, {0x7010, 0x30000});
    EXPECT_EQ(walk_made(capture), (std::vector<uint64_t>{0x10010, kCutAddress}));
}

TEST(Unwinder, AnAddressOutsideAllCodeEndsTheWalk) {
    Capture capture = made_stack(0x7000, 0x7000, {0x7010, 0x10020});
    capture.from.ip = 0x40000;
    EXPECT_EQ(walk_made(capture), (std::vector<uint64_t>{0x40000, kCutAddress}));
}

}  // namespace
}  // namespace mlbcc::event
