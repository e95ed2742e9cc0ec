// Attaches what is no function of a library: system calls, tracepoints, and the programs that
// follow processes.
#pragma once

#include "base/result.h"
#include "load/loader.h"
#include "plan/plan.h"

namespace mlbcc::load {

Result<void> attach_points(const plan::Plan& plan, Loaded& loaded);

}  // namespace mlbcc::load
