// How the programs that are traced, or will be, find their libraries.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/result.h"
#include "process/process.h"
#include "process/process_view.h"
#include "session/options.h"

namespace mlbcc::session {

process::LaunchOptions launch_options(const TargetOptions& targets);

// Whose the processes are that are traced: the command's user, or that of the first one named.
uid_t user_of(const TargetOptions& targets);

// Of the command, or each process that the options name; one that cannot be looked at is an error.
Result<std::vector<process::ProcessView>> views_of(const TargetOptions& targets);
process::ProcessView own_view();  // that of a program which we would start
// Of the command, and as many as can be looked at of the processes that are traced by now.
Result<std::vector<process::ProcessView>> views_of(const TargetOptions& targets,
                                                   const std::vector<int>& pids);

}  // namespace mlbcc::session
