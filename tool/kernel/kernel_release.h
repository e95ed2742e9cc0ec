// Which Linux this is, and how it preempts its own work.
//
//   "7.3.4+deb13-amd64"                      ->  7.3
//   "none voluntary full (lazy)"             ->  "lazy"     /sys/kernel/debug/sched/preempt
//   "#1 SMP PREEMPT_DYNAMIC Debian 6.1.1"    ->  whether it can at all: uname -v
#pragma once

#include <string>
#include <string_view>

namespace mlbcc::kernel {

struct KernelRelease {
    int major = 0, minor = 0;  // 0.0: not known
    bool operator==(const KernelRelease&) const = default;
    bool operator<(const KernelRelease& other) const {
        return major != other.major ? major < other.major : minor < other.minor;
    }
};
KernelRelease parse_release(std::string_view release);
KernelRelease read_release();  // of the kernel that runs

// The first that mlbcc is made for, and the last that it was tried on (README.md).
inline constexpr KernelRelease kOldestRelease{5, 15}, kNewestTried{7, 3};

struct Preemption {
    bool possible = false;  // the kernel was built for it
    std::string how;        // "none", "voluntary", "full", "lazy", "real-time"; "": not known
};
// `chosen`: text of sched/preempt, "" where it cannot be read.
Preemption parse_preemption(std::string_view version, std::string_view chosen);
Preemption read_preemption();

}  // namespace mlbcc::kernel
