#include "files/mounts.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "files/scratch.h"

namespace mlbcc::files {
namespace {

// In a mount namespace of its own, so that the machine stays as it is. 77: not permitted.
int with_own_mounts(const std::function<int()>& work) {
    return in_child([&] {
        if (unshare(CLONE_NEWNS) != 0) return 77;
        if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
        return work();
    });
}

TEST(Tracefs, IsMountedWhereItIsNot) {
    const int result = with_own_mounts([] {
        while (umount2("/sys/kernel/tracing", MNT_DETACH) == 0) {
        }
        while (umount2("/sys/kernel/debug", MNT_DETACH) == 0) {
        }
        const auto first = ensure_tracefs();
        if (!first) return first.error().code == EPERM ? 77 : 1;
        const auto second = ensure_tracefs();
        if (!second || *first != "/sys/kernel/tracing" || *second != *first) return 2;
        const auto id = tracepoint_id(*first, "sched", "sched_process_fork");
        return id && *id > 0 ? 0 : 3;
    });
    if (result == 77) GTEST_SKIP() << "no permission to mount";
    EXPECT_EQ(result, 0);
}

TEST(Tracefs, SaysWhatToRunWhereItCannotBeMounted) {
    const Scratch scratch;
    const int result = with_own_mounts([&] {
        while (umount2("/sys/kernel/tracing", MNT_DETACH) == 0) {
        }
        while (umount2("/sys/kernel/debug", MNT_DETACH) == 0) {
        }
        if (setresuid(65534, 65534, 65534) != 0) return 77;
        const auto tracefs = ensure_tracefs();
        if (tracefs) return 1;
        return tracefs.error().message() == "tracefs is not mounted at /sys/kernel/tracing, and "
                                            "cannot be: Operation not permitted" &&
                       tracefs.error().help ==
                           "run as root: mount -t tracefs tracefs /sys/kernel/tracing; a container "
                           "needs -v /sys/kernel/tracing:/sys/kernel/tracing"
                   ? 0
                   : 2;
    });
    if (result == 77) GTEST_SKIP() << "no permission to unmount";
    EXPECT_EQ(result, 0);
}

TEST(TracepointId, IsReadOrMissing) {
    const Scratch scratch;
    scratch.write("events/sched/sched_switch/id", "316\n");
    scratch.write("events/sched/broken/id", "hello");
    EXPECT_EQ(tracepoint_id(scratch.path(), "sched", "sched_switch").value(), 316u);
    const auto none = tracepoint_id(scratch.path(), "sched", "sched_switsch");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message(), "this kernel has no tracepoint `sched:sched_switsch`");
    const auto broken = tracepoint_id(scratch.path(), "sched", "broken");
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().message(),
              scratch.path("events/sched/broken/id") + " does not hold a number");
}

}  // namespace
}  // namespace mlbcc::files
