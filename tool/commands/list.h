// `mlbcc list PATTERN`, of patterns that need no rules:
//
//   libc.so.6:mal*        functions of a library or program
//   syscall:open*         tracepoint:sched:*        kernel:vfs_*
//   usdt:python3          usdt:python3:python:gc*
#pragma once

#include <string>

namespace mlbcc::commands {

// Names on standard output, how many there are on standard error. Returns the exit status: 1 where
// nothing matches.
int list_pattern(const std::string& pattern);

}  // namespace mlbcc::commands
