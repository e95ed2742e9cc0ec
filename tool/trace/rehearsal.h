// Programs taken into the kernel as a trace would take them, but not attached, and out of it again.
#pragma once

#include "base/result.h"
#include "trace/frontend.h"
#include "trace/loader.h"
#include "trace/options.h"

namespace mlbcc::trace {

// Of a frontend that has its plan; `loader` says afterwards what there was to load.
Result<void> rehearse(const TraceOptions& options, Frontend& frontend, Loader& loader);

}  // namespace mlbcc::trace
