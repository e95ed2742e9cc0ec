// The values that a probe's programs compute.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace mlbcc::codegen {

// At the beginning of a call; likewise, at both ends.
std::vector<rules::TypedPtr> computed_at_entry(const plan::ProbePlan& probe);
std::vector<rules::TypedPtr> computed(const plan::ProbePlan& probe);

// Whether it is text or a number in the program's memory: by itself, not by what it is made of.
bool is_program_memory(const rules::Typed& value);

}  // namespace mlbcc::codegen
