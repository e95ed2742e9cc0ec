// The subcommands that need only the pipeline's first half. Each returns the exit status.
#pragma once

#include <string>

#include "trace/options.h"

namespace mlbcc::trace {

// With `compile` the programs are compiled and loaded, too, and not attached.
int run_check(const TraceOptions& options, bool compile);
// What `pattern` matches ("libc.so.6:mal*", or names in the rules' libraries), or each rule.
int run_list(const RuleOptions& options, Verbosity verbosity, const std::string& pattern);
int run_explain(const RuleOptions& options, Verbosity verbosity, const std::string& pattern);
// The bundled rule files: names, what each is for, and their folders.
int run_rules(const RuleOptions& options);
int run_emit(const TraceOptions& options, const EmitOptions& emit);

}  // namespace mlbcc::trace
