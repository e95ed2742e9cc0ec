// The file of folded stacks that --folded asks for, live and from a saved trace.
#pragma once

#include <memory>
#include <string>

#include "sink/sink.h"
#include "trace/options.h"

namespace mlbcc::trace {

// Its notes go to standard error, unless quiet. Errors: cannot create.
Result<std::unique_ptr<sink::Sink>> open_folded(const FoldedOptions& folded, Verbosity verbosity);
// From the events of the trace in `file`. Returns the exit status.
int fold_saved_trace(const std::string& file, const FoldedOptions& wanted, Verbosity verbosity);

}  // namespace mlbcc::trace
