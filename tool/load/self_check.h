// Whether the kernel's structures are what we take them for: the tracer reads itself through them,
// since its own process id and its parent's are known otherwise, too.
#pragma once

#include "base/result.h"
#include "load/frontend.h"

namespace mlbcc::load {

// Error: what was read, what is true, and how to repair it. Nothing is read where no rule and no
// template reads structures of the kernel.
Result<void> check_structures(const Frontend& frontend, Steps& steps);

}  // namespace mlbcc::load
