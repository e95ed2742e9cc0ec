// What the tool says of itself, on standard error.
#pragma once

#include "base/diagnostic.h"
#include "base/result.h"
#include "trace/options.h"

namespace mlbcc::trace {

// Tells an error; returns kExitFailure.
int tell(const Error& error);
// Tells what is wrong with the rules; true if there are errors. Warnings and notes unless quiet.
bool tell(const Diagnostics& diagnostics, Verbosity verbosity);
void tell_note(Verbosity verbosity, const std::string& text);

bool may_trace();  // CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN

}  // namespace mlbcc::trace
