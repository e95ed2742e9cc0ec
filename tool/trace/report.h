// The subcommand that shows a saved trace as the terminal did when it ended.
#pragma once

#include <string>

namespace mlbcc::trace {

// The summary goes to standard output, what is missing to standard error. Returns the exit status.
int run_report(const std::string& file);

}  // namespace mlbcc::trace
