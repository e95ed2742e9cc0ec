// How many files the tracer may have open. Where the kernel attaches probes one by one, each takes
// one for as long as the trace lasts: NVIDIA's driver library on Linux 6.1 is 944 of them.
#pragma once

#include "base/result.h"

namespace mlbcc::files {

// As many as this user may ask for (the hard limit of RLIMIT_NOFILE, see getrlimit(2)). What is
// started before keeps the limit that it had.
// Errors: these are too few even for the compiler.
Result<void> allow_all_files();

}  // namespace mlbcc::files
