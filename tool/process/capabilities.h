// What this process may do: its capabilities (capabilities(7)), and what takes their effect away.
#pragma once

#include <string>

#include "base/capabilities.h"
#include "base/result.h"

namespace mlbcc::process {

// "CAP_BPF and CAP_PERFMON"; one that has no name here by its number.
std::string names(Capabilities capabilities);
// "--cap-add BPF --cap-add PERFMON", the flags of a container that has them
std::string container_flags(Capabilities capabilities);

// Of CAP_BPF and CAP_PERFMON; CAP_SYS_ADMIN stands for both (bpf_capable() and perfmon_capable(),
// linux/capability.h).
Capabilities missing_for_tracing(Capabilities own);

// Capabilities of another one do not count for the kernel as a whole.
bool in_first_user_namespace();
bool has_seccomp_filter();

}  // namespace mlbcc::process
