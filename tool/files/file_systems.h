// The mounted file systems that programs and libraries are loaded from, of all those that a line of
// /proc/PID/mountinfo stands for:
//
//   27 1 254:0 / / rw,relatime - ext4 /dev/vda rw        is one
//   22 27 0:21 / /proc rw,noexec - proc proc rw          is none
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mlbcc::files {

struct Mount {
    std::string device;  // "254:0": one for all mounts of a file system
    std::string folder;  // where it is mounted, below the process's root
    bool operator==(const Mount&) const = default;
};

// Only kinds of this machine's own that root can open any file of. A program that is served by
// another program here (FUSE) would have both wait for each other, and a server elsewhere (NFS) may
// refuse us a file, which the kernel would then refuse its owner, too. Left out besides: what is
// mounted `noexec`, and /dev, where to open a file is to use a device.
std::vector<Mount> program_mounts(std::string_view mountinfo);

}  // namespace mlbcc::files
