#include "event/captured_stack.h"

#include <pthread.h>
#include <ucontext.h>

#include <algorithm>

namespace mlbcc::test {
namespace {

uint64_t stack_end() {
    pthread_attr_t attributes;
    void* start = nullptr;
    size_t size = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &start, &size);
    pthread_attr_destroy(&attributes);
    return reinterpret_cast<uint64_t>(start) + size;
}

void fill(plan::UserStack& from, const ucontext_t& context) {
#if defined(__x86_64__)
    const auto& regs = context.uc_mcontext.gregs;
    from.ip = static_cast<uint64_t>(regs[REG_RIP]);
    from.sp = static_cast<uint64_t>(regs[REG_RSP]);
    constexpr int kSaved[] = {REG_RBP, REG_RBX, REG_R12, REG_R13, REG_R14, REG_R15};
    for (size_t i = 0; i < std::size(kSaved); ++i) from.saved[i] = static_cast<uint64_t>(regs[kSaved[i]]);
#else
    const auto& machine = context.uc_mcontext;
    from.ip = machine.pc;
    from.sp = machine.sp;
    constexpr int kSaved[] = {29, 30, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28};
    for (size_t i = 0; i < std::size(kSaved); ++i) from.saved[i] = machine.regs[kSaved[i]];
#endif
}

}  // namespace

// Byte by byte, since it reads other functions' frames.
__attribute__((noinline, no_sanitize("address"))) void capture(CapturedStack& out, size_t bytes) {
    ucontext_t context;
    getcontext(&context);
    fill(out.from, context);
    out.from.bytes = std::min<uint64_t>(bytes, stack_end() - out.from.sp);
    out.memory.resize(out.from.bytes);
    const auto* from = reinterpret_cast<const volatile std::byte*>(out.from.sp);
    std::byte* to = out.memory.data();
    for (size_t i = 0; i < out.from.bytes; ++i) to[i] = from[i];
}

}  // namespace mlbcc::test
