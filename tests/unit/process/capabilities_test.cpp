// Sets of capabilities, their names, and what giving them up does to this process.
#include "process/capabilities.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>

#include "files/scratch.h"

namespace mlbcc::process {
namespace {

TEST(Capabilities, AreSets) {
    const Capabilities some{CAP_KILL, CAP_BPF}, others{CAP_BPF, CAP_SYS_PTRACE};
    EXPECT_TRUE(some.has(CAP_BPF));
    EXPECT_FALSE(some.has(CAP_SYS_PTRACE));
    EXPECT_EQ(some & others, Capabilities{CAP_BPF});
    EXPECT_EQ((some | others).without(Capabilities{CAP_BPF}),
              (Capabilities{CAP_KILL, CAP_SYS_PTRACE}));
    EXPECT_TRUE(some.without(some).empty());
}

TEST(Capabilities, HaveNamesAndFlags) {
    EXPECT_EQ(names({CAP_SYS_PTRACE}), "CAP_SYS_PTRACE");
    EXPECT_EQ(names({CAP_BPF, CAP_KILL, CAP_PERFMON}), "CAP_KILL, CAP_PERFMON and CAP_BPF");
    EXPECT_EQ(names(Capabilities{63}), "CAP_63");
    EXPECT_EQ(container_flags({CAP_BPF, CAP_PERFMON}), "--cap-add PERFMON --cap-add BPF");
}

TEST(Capabilities, OnceGivenUpAreGone) {
    const Capabilities own = effective_capabilities();
    if (!own.has(CAP_KILL) || !own.has(CAP_CHOWN)) GTEST_SKIP() << "not root";
    const int result = files::in_child([] {
        const Capabilities kill{CAP_KILL};
        if (!use_capabilities({}) || !effective_capabilities().empty()) return 1;
        if (!use_capabilities(kill) || effective_capabilities() != kill) return 2;
        if (!keep_capabilities(kill) || effective_capabilities() != kill) return 3;
        (void)use_capabilities({CAP_KILL, CAP_CHOWN});
        return effective_capabilities() == kill ? 0 : 4;
    });
    EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace mlbcc::process
