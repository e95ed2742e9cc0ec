// Whether this process may trace at all, said before anything is tried.
#pragma once

#include <optional>

#include "base/result.h"
#include "bpf/kernel.h"
#include "process/rights.h"

namespace mlbcc::commands {

// What is missing, and the flag of a container that gives it.
std::optional<Error> why_not_trace(const process::Rights& rights, const bpf::SystemCalls& calls);

}  // namespace mlbcc::commands
