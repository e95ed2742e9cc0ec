// One trace, from the command line's wishes to the summary: prepare, load, attach, arm, release the
// command, poll, finish.
#pragma once

#include "trace/options.h"

namespace mlbcc::trace {

// The exit status: the traced command's own, or kExitFailure, kExitUsage.
int run_trace(const TraceOptions& options);

}  // namespace mlbcc::trace
