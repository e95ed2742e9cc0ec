// What of a system call must be looked at, by what its rules ask for.
#pragma once

#include "plan/plan.h"

namespace mlbcc::plan {

// `probes_functions`: some rule is on functions of programs, whose ends may be system calls, too.
target::Ends ends_of_syscall(const ProbePlan& probe, bool probes_functions);

}  // namespace mlbcc::plan
