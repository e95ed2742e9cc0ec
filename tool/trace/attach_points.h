// Attaches what is no function of a library: system calls, tracepoints, and the programs that
// follow processes.
#pragma once

#include "base/result.h"
#include "plan/plan.h"
#include "trace/loader.h"

namespace mlbcc::trace {

Result<void> attach_points(const plan::Plan& plan, Loaded& loaded);

}  // namespace mlbcc::trace
