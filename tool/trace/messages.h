// What the tool says of itself, on standard error.
#pragma once

#include <exception>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "bpf/kernel.h"
#include "plan/plan.h"
#include "trace/options.h"

namespace mlbcc::trace {

// Tells an error; returns kExitFailure.
int tell(const Error& error);
int tell(const std::exception& thrown);          // likewise
Error unexpected(const std::exception& thrown);  // what it says, and what can be done
// Tells what is wrong with the rules; true if there are errors. Warnings and notes unless quiet.
bool tell(const Diagnostics& diagnostics, Verbosity verbosity, bool asides = false);
void tell_note(Verbosity verbosity, const std::string& text);
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

}  // namespace mlbcc::trace
