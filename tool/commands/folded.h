// A saved trace's stacks, folded.
#pragma once

#include <string>

#include "session/options.h"

namespace mlbcc::commands {

// Of the events of the trace in `file`. Returns the exit status.
int fold_saved_trace(const std::string& file, const session::FoldedOptions& wanted,
                     Verbosity verbosity);

}  // namespace mlbcc::commands
