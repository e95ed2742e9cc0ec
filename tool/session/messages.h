// What is said of a trace on standard error: of its probes, its command and what it left.
#pragma once

#include <vector>

#include "bpf/kernel.h"
#include "plan/plan.h"
#include "text/tell.h"

namespace mlbcc::session {

// Of a command that a signal has ended; `wait_status` is as waitpid() has it.
void tell_signal(Verbosity verbosity, int wait_status, bool is_probed);
// Names those of the processes that still run, though the command has ended.
void tell_left_behind(Verbosity verbosity, std::vector<int> processes);
// Names the functions that could not be probed, in one note for each reason.
void tell_refused(Verbosity verbosity, const std::vector<bpf::Refusal>& refused,
                  const plan::Plan& plan);
// Likewise those whose calls end where they jump to other functions.
void tell_leaving(Verbosity verbosity, const std::vector<plan::ProbeId>& leaving,
                  const plan::Plan& plan);

}  // namespace mlbcc::session
