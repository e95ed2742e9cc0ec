// Whether this process may trace at all, said before anything is tried, and what it keeps of its
// rights once the probes are attached.
#pragma once

#include <optional>

#include "base/result.h"
#include "bpf/kernel.h"
#include "process/capabilities.h"

namespace mlbcc::commands {

struct Standing {
    bool root = false;
    Capabilities capabilities;  // those that count
    bool first_user_namespace = true;
    bool filtered = false;  // by seccomp
    bpf::SystemCalls calls;
};
Standing own_standing();

// What is missing, and the flag of a container that gives it.
std::optional<Error> why_not_trace(const Standing& standing);

}  // namespace mlbcc::commands
