// `mlbcc headers`: what describes the running kernel's structures here, and what would be used.
#pragma once

#include "trace/options.h"

namespace mlbcc::trace {

// Exit status 0 where there is something that can be used.
int run_headers(const RuleOptions& options, const HeadersOptions& headers);

}  // namespace mlbcc::trace
