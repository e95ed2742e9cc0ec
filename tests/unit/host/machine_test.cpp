// What the kernel's files say of the process's rights, its container and the GPU driver.
#include <gtest/gtest.h>
#include <linux/capability.h>

#include "files/disk_space.h"
#include "files/scratch.h"
#include "kernel/gpu_driver.h"
#include "process/container.h"
#include "process/rights.h"

namespace mlbcc::process {
namespace {

constexpr const char* kEveryone = "         0          0 4294967295\n";

TEST(Rights, OfStatus) {
    const Rights rights = parse_rights("Name:\tx\nCapPrm:\t0000000000000000\n"
                                       "CapEff:\t000000c000080000\nSeccomp:\t2\n"
                                       "Seccomp_filters:\t1\n",
                                       kEveryone);
    EXPECT_TRUE(rights.capabilities.has(CAP_BPF));
    EXPECT_TRUE(rights.capabilities.has(CAP_PERFMON));
    EXPECT_TRUE(rights.capabilities.has(CAP_SYS_PTRACE));
    EXPECT_FALSE(rights.capabilities.has(CAP_SYS_ADMIN));
    EXPECT_TRUE(rights.may_trace());
    EXPECT_TRUE(rights.has_seccomp_filter);
    EXPECT_TRUE(rights.all_users);
}

TEST(Rights, AreNoneWithoutStatus) {
    const Rights rights = parse_rights("", "");
    EXPECT_EQ(rights.capabilities.bits(), 0u);
    EXPECT_FALSE(rights.may_trace());
    EXPECT_FALSE(rights.has_seccomp_filter);
}

TEST(Rights, OneOfTwoCapabilitiesIsNotEnough) {
    EXPECT_FALSE(parse_rights("CapEff:\t0000008000000000\n", kEveryone).may_trace());
    EXPECT_FALSE(parse_rights("CapEff:\t0000004000000000\n", kEveryone).may_trace());
    EXPECT_TRUE(parse_rights("CapEff:\t0000000000200000\n", kEveryone).may_trace());
}

TEST(Rights, OfAUserNamespace) {
    EXPECT_FALSE(parse_rights("", "         0       1000          1\n").all_users);
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

TEST(GpuDriver, OfItsFiles) {
    files::Scratch scratch;
    EXPECT_FALSE(kernel::read_gpu_driver(scratch.path()).loaded);
    scratch.write("proc/driver/nvidia/version",
                  "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.261.03  Thu Jun 26\n"
                  "GCC version:  gcc version 12.2.0\n");
    for (const char* name : {"nvidia1", "nvidia0", "nvidiactl", "nvidia-uvm", "null"})
        scratch.write(std::string("dev/") + name, "");
    const kernel::GpuDriver driver = kernel::read_gpu_driver(scratch.path());
    EXPECT_TRUE(driver.loaded);
    EXPECT_EQ(driver.version, "535.261.03");
    EXPECT_EQ(driver.devices, (std::vector<std::string>{"/dev/nvidia0", "/dev/nvidia1"}));
}

TEST(GpuDriver, VersionOfSysfs) {
    files::Scratch scratch;
    scratch.write("sys/module/nvidia/version", "575.51.02\n");
    EXPECT_EQ(kernel::read_gpu_driver(scratch.path()).version, "575.51.02");
    EXPECT_EQ(kernel::parse_driver_version("no numbers here"), "");
}

TEST(DiskSpace, OfAFolderThatIsYetToBeMade) {
    files::Scratch scratch;
    const auto space = files::disk_space(scratch.path("a/b"));
    ASSERT_TRUE(space);
    EXPECT_EQ(space->folder, scratch.path());
    EXPECT_TRUE(space->writable);
    EXPECT_GT(space->free_bytes, 0u);
}

}  // namespace
}  // namespace mlbcc::process
