// What the kernel's files say of the process's rights and its container.
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>

#include "files/scratch.h"
#include "process/container.h"
#include "process/rights.h"

namespace mlbcc::process {
namespace {

TEST(Rights, OfStatus) {
    const Rights rights = parse_rights("Name:\tx\nCapPrm:\t0000000000000000\n"
                                       "CapEff:\t000000c000080000\nSeccomp:\t2\n"
                                       "Seccomp_filters:\t1\n");
    EXPECT_TRUE(rights.capabilities.has(CAP_BPF));
    EXPECT_TRUE(rights.capabilities.has(CAP_PERFMON));
    EXPECT_TRUE(rights.capabilities.has(CAP_SYS_PTRACE));
    EXPECT_FALSE(rights.capabilities.has(CAP_SYS_ADMIN));
    EXPECT_TRUE(rights.may_trace());
    EXPECT_TRUE(rights.has_seccomp_filter);
}

TEST(Rights, AreNoneWithoutStatus) {
    const Rights rights = parse_rights("");
    EXPECT_EQ(rights.capabilities.bits(), 0u);
    EXPECT_FALSE(rights.may_trace());
    EXPECT_FALSE(rights.has_seccomp_filter);
}

TEST(Rights, OneOfTwoCapabilitiesIsNotEnough) {
    EXPECT_FALSE(parse_rights("CapEff:\t0000008000000000\n").may_trace());
    EXPECT_FALSE(parse_rights("CapEff:\t0000004000000000\n").may_trace());
    EXPECT_TRUE(parse_rights("CapEff:\t0000000000200000\n").may_trace());
}

TEST(Rights, OfAUserNamespace) {
    const int result = files::in_child([] {
        if (!read_rights().first_user_namespace) return 77;
        if (unshare(CLONE_NEWUSER) != 0) return 77;
        return read_rights().first_user_namespace ? 1 : 0;
    });
    if (result == 77) GTEST_SKIP() << "no user namespace of one's own here";
    EXPECT_EQ(result, 0);
}

TEST(Lockdown, IsTheOneInBrackets) {
    EXPECT_EQ(parse_lockdown("[none] integrity confidentiality\n"), Lockdown::none);
    EXPECT_EQ(parse_lockdown("none [integrity] confidentiality\n"), Lockdown::integrity);
    EXPECT_EQ(parse_lockdown("none integrity [confidentiality]\n"), Lockdown::confidentiality);
    EXPECT_EQ(parse_lockdown(""), Lockdown::unknown);
}

TEST(Container, ByItsMarks) {
    EXPECT_EQ(container_of({}), ContainerKind::none);
    EXPECT_EQ(container_of({.dockerenv = true}), ContainerKind::docker);
    EXPECT_EQ(container_of({.containerenv = true}), ContainerKind::podman);
    EXPECT_EQ(container_of({.dockerenv = true, .kubernetes = true}), ContainerKind::kubernetes);
    EXPECT_EQ(container_of({.variable = "lxc"}), ContainerKind::lxc);
    EXPECT_EQ(container_of({.variable = "systemd-nspawn"}), ContainerKind::other);
    EXPECT_EQ(container_of({.cgroup = "0::/docker/0123\n"}), ContainerKind::docker);
    EXPECT_EQ(container_of({.cgroup = "0::/machine.slice/libpod-01.scope\n"}),
              ContainerKind::podman);
    EXPECT_EQ(container_of({.cgroup = "0::/kubepods/besteffort/pod0\n"}),
              ContainerKind::kubernetes);
    EXPECT_EQ(container_of({.cgroup = "0::/user.slice\n"}), ContainerKind::none);
}

}  // namespace
}  // namespace mlbcc::process
