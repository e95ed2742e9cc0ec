// The subcommand that shows a saved trace as the terminal did when it ended.
#pragma once

#include <optional>
#include <string>

#include "trace/options.h"
#include "view/view.h"

namespace mlbcc::trace {

// The summary goes to standard output, what is missing to standard error. With output.folded its
// stacks go to that file, and there is no summary. A trace of a profile is shown as that. Returns
// the exit status. With `calls` it is a report of those calls in place of the summary.
int run_report(const std::string& file, const std::optional<view::CallSelection>& calls,
               const OutputOptions& output, Verbosity verbosity);

}  // namespace mlbcc::trace
