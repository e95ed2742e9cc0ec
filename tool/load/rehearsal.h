// Programs taken into the kernel as a trace would take them, but not attached, and out of it again.
#pragma once

#include "base/result.h"
#include "load/frontend.h"
#include "load/loader.h"
#include "load/options.h"

namespace mlbcc::load {

// Of a frontend that has its plan; `loader` says afterwards what there was to load.
Result<void> rehearse(const LoadOptions& options, Frontend& frontend, Loader& loader);

}  // namespace mlbcc::load
