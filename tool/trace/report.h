// The subcommand that shows a saved trace as the terminal did when it ended.
#pragma once

#include <string>

#include "trace/options.h"

namespace mlbcc::trace {

// The summary goes to standard output, what is missing to standard error. With options.folded its
// stacks go to that file, and there is no summary. A trace of a profile is shown as that. Returns
// the exit status.
int run_report(const std::string& file, const TraceOptions& options);

}  // namespace mlbcc::trace
