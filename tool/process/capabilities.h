// Capabilities (capabilities(7)) by name, and those that tracing needs.
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

}  // namespace mlbcc::process
