#include "kernel/kernel_release.h"

#include <gtest/gtest.h>

namespace mlbcc::kernel {
namespace {

TEST(KernelRelease, IsItsFirstTwoNumbers) {
    EXPECT_EQ(parse_release("7.3.4+deb13-amd64"), (KernelRelease{7, 3}));
    EXPECT_EQ(parse_release("6.18.44-fc-v657"), (KernelRelease{6, 18}));
    EXPECT_EQ(parse_release("5.15"), (KernelRelease{5, 15}));
    EXPECT_EQ(parse_release("7-rc1"), (KernelRelease{7, 0}));
    EXPECT_EQ(parse_release("linux"), KernelRelease{});
    EXPECT_EQ(parse_release(""), KernelRelease{});
    EXPECT_LT(parse_release("6.18.44"), kNewestTried);
    EXPECT_LT(kNewestTried, parse_release("10.0.1"));
}

TEST(Preemption, IsWhatWasChosen) {
    const Preemption lazy =
        parse_preemption("#1 SMP PREEMPT_DYNAMIC Debian 7.3.4-1", "full (lazy)\n");
    EXPECT_TRUE(lazy.possible);
    EXPECT_EQ(lazy.how, "lazy");
    EXPECT_EQ(parse_preemption("#1 SMP PREEMPT_DYNAMIC", "(none) voluntary full \n").how, "none");
}

TEST(Preemption, IsNotKnownWhereItWasChosenAndCannotBeRead) {
    const Preemption some = parse_preemption("#1 SMP PREEMPT_DYNAMIC Debian 6.1.1", "");
    EXPECT_TRUE(some.possible);
    EXPECT_EQ(some.how, "");
}

TEST(Preemption, IsNoneWhereTheKernelWasNotBuiltForIt) {
    const Preemption none = parse_preemption("#1 SMP Debian 5.15.1", "");
    EXPECT_FALSE(none.possible);
    EXPECT_EQ(none.how, "none");
    EXPECT_EQ(parse_preemption("#1 SMP PREEMPT_RT Debian 6.12.1", "").how, "real-time");
}

}  // namespace
}  // namespace mlbcc::kernel
