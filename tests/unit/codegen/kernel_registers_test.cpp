// struct pt_regs as the templates have it, where the kernel has no BTF to say so, against the
// kernel's own header for programs: probes read arguments by it.
#include <asm/ptrace.h>
#include <gtest/gtest.h>

#include <cstddef>

namespace mlbcc::test {
namespace {

namespace ours {
#if defined(__aarch64__)
#include "../../../probe_templates/include/kernel/arch/arm64/include/asm/ptrace.h"
#else
#include "../../../probe_templates/include/kernel/arch/x86/include/asm/ptrace.h"
#endif
}  // namespace ours

#if defined(__aarch64__)
TEST(KernelRegisters, AreWhereTheKernelHasThem) {
    EXPECT_EQ(offsetof(ours::pt_regs, regs[0]), offsetof(::user_pt_regs, regs[0]));
    EXPECT_EQ(offsetof(ours::pt_regs, regs[7]), offsetof(::user_pt_regs, regs[7]));
    EXPECT_EQ(offsetof(ours::pt_regs, regs[30]), offsetof(::user_pt_regs, regs[30]));
    EXPECT_EQ(offsetof(ours::pt_regs, sp), offsetof(::user_pt_regs, sp));
    EXPECT_EQ(offsetof(ours::pt_regs, pc), offsetof(::user_pt_regs, pc));
    EXPECT_EQ(offsetof(ours::pt_regs, pstate), offsetof(::user_pt_regs, pstate));
    EXPECT_EQ(sizeof(ours::user_pt_regs), sizeof(::user_pt_regs));
    // Behind what programs see begins what is the kernel's own (arch/arm64/include/asm/ptrace.h).
    EXPECT_EQ(offsetof(ours::pt_regs, orig_x0), sizeof(::user_pt_regs));
}
#else
TEST(KernelRegisters, AreWhereTheKernelHasThem) {
    EXPECT_EQ(offsetof(ours::pt_regs, di), offsetof(::pt_regs, rdi));
    EXPECT_EQ(offsetof(ours::pt_regs, si), offsetof(::pt_regs, rsi));
    EXPECT_EQ(offsetof(ours::pt_regs, dx), offsetof(::pt_regs, rdx));
    EXPECT_EQ(offsetof(ours::pt_regs, cx), offsetof(::pt_regs, rcx));
    EXPECT_EQ(offsetof(ours::pt_regs, r8), offsetof(::pt_regs, r8));
    EXPECT_EQ(offsetof(ours::pt_regs, r9), offsetof(::pt_regs, r9));
    EXPECT_EQ(offsetof(ours::pt_regs, r10), offsetof(::pt_regs, r10));
    EXPECT_EQ(offsetof(ours::pt_regs, ax), offsetof(::pt_regs, rax));
    EXPECT_EQ(offsetof(ours::pt_regs, orig_ax), offsetof(::pt_regs, orig_rax));
    EXPECT_EQ(offsetof(ours::pt_regs, ip), offsetof(::pt_regs, rip));
    EXPECT_EQ(offsetof(ours::pt_regs, cs), offsetof(::pt_regs, cs));
    EXPECT_EQ(offsetof(ours::pt_regs, sp), offsetof(::pt_regs, rsp));
    EXPECT_EQ(sizeof(ours::pt_regs), sizeof(::pt_regs));
}
#endif

}  // namespace
}  // namespace mlbcc::test
