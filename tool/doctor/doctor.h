// `mlbcc doctor`: what of this machine matters for a trace, what is wrong with it, and what repairs
// it. The machine is looked at and tried (findings.h), each finding is judged
// (checks.h), and the verdicts are shown as text or JSON (text.h).
#pragma once

#include "session/options.h"

namespace mlbcc::doctor {

// 0 if a trace with the rules of `options` (without any: with those for CUDA) would work here, else
// kExitFailure.
int run_doctor(const session::TraceOptions& options, bool json);

}  // namespace mlbcc::doctor
