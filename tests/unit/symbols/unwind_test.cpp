// The unwinder on whole stacks of this very program, against libgcc's.
#include "symbols/unwind.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/unwind_capture.h"

namespace mlbcc::symbols {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

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
    EXPECT_THAT(names, ElementsAre("unwind_chain_plain", "unwind_chain_aligned",
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
    EXPECT_THAT(functions(addresses, finder), Contains(HasSubstr("qsort")));
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

}  // namespace
}  // namespace mlbcc::symbols
