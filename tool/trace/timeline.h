// The subcommand that draws a saved trace on the terminal.
#pragma once

#include <cstddef>
#include <string>

#include "trace/options.h"
#include "view/view.h"

namespace mlbcc::trace {

struct TimelineOptions {
    view::CallSelection calls;
    size_t width = 0;  // characters; 0: the terminal's
    bool ascii = false;
};

// Returns the exit status.
int run_timeline(const std::string& file, const TimelineOptions& timeline, Verbosity verbosity);

}  // namespace mlbcc::trace
