// `mlbcc doctor`: what of this machine matters for a trace, what is wrong with it, and what repairs
// it. The machine is looked at and tried (doctor_findings.h), each finding is judged
// (doctor_checks.h), and the verdicts are shown as text or JSON (doctor_text.h).
#pragma once

#include "trace/options.h"

namespace mlbcc::trace {

// 0 if a trace with the rules of `options` (without any: with those for CUDA) would work here, else
// kExitFailure.
int run_doctor(const TraceOptions& options, bool json);

}  // namespace mlbcc::trace
