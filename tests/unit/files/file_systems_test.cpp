#include "files/file_systems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mlbcc::files {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ProgramMounts, AreThoseThatHoldPrograms) {
    EXPECT_THAT(program_mounts(R"(22 27 0:21 / /proc rw,relatime - proc proc rw
23 27 0:22 / /sys rw,relatime - sysfs sysfs rw
24 27 0:6 / /dev rw,relatime - devtmpfs devtmpfs rw,size=12334460k
25 24 0:23 / /dev/shm rw,relatime - tmpfs tmpfs rw,size=24684084k
26 24 0:24 / /dev/pts rw,relatime - devpts devpts rw,mode=600
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
31 23 0:29 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw
42 23 0:13 / /sys/kernel/tracing rw,nosuid - tracefs tracefs rw
50 27 0:41 / /var/lib/docker/overlay2/1f/merged rw shared:7 master:3 - overlay overlay rw
)"),
                ElementsAre(Mount{"0:23", "/dev/shm"}, Mount{"254:0", "/"},
                            Mount{"0:41", "/var/lib/docker/overlay2/1f/merged"}));
}

TEST(ProgramMounts, WhatIsServedByAnotherProgramOrMachineIsNone) {
    EXPECT_THAT(program_mounts(R"(60 27 0:51 / /mnt/a rw - fuse.sshfs me@there: rw
61 27 0:52 / /mnt/b rw - fuseblk /dev/sdb1 rw
62 27 0:53 / /mnt/c rw - nfs4 server:/home rw
63 27 0:54 / /mnt/d rw - autofs systemd-1 rw
)"),
                IsEmpty());
}

TEST(ProgramMounts, WhatCannotBeExecutedOrIsADeviceIsNone) {
    EXPECT_THAT(program_mounts(R"(70 27 0:61 / /run rw,nosuid,noexec,relatime - tmpfs run rw
71 27 0:62 / /srv/root/dev rw - tmpfs dev rw
72 27 0:63 / /opt rw - tmpfs noexec rw
)"),
                ElementsAre(Mount{"0:63", "/opt"}));
}

TEST(ProgramMounts, FoldersAreWrittenInOctal) {
    EXPECT_THAT(program_mounts("80 27 8:1 / /my\\040disk\\134a\\09 rw - ext4 /dev/sda1 rw\n"),
                ElementsAre(Mount{"8:1", "/my disk\\a\\09"}));
}

TEST(ProgramMounts, LinesThatAreCutOffAreNone) {
    EXPECT_THAT(program_mounts("27 1 254:0 / / rw,relatime -\n27 1 254:0\n\n-\n"), IsEmpty());
}

}  // namespace
}  // namespace mlbcc::files
