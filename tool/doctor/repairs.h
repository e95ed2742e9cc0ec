// Causes that several checks share, and repairs in the words of the container that we are in.
#pragma once

#include <string>
#include <string_view>

#include "doctor/findings.h"

namespace mlbcc::doctor {

struct Cause {
    std::string why, repair;
};

// What gives this process CAP_BPF and CAP_PERFMON.
std::string rights_repair(const Facts& found);
// "docker run FLAG", or `otherwise` outside of a container that is started so.
std::string run_with(const Facts& found, std::string_view flag, std::string_view otherwise);

// Why the kernel answers BPF's system calls with this errno.
Cause cause_of_refusal(const Facts& found, int code);

// Who refuses bpf(2), if it does: each has a row of its own.
bool rights_are_missing(const Facts& found);
bool seccomp_refuses(const Facts& found);

}  // namespace mlbcc::doctor
