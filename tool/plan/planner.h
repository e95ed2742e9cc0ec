// What all rules want of one function becomes its ProbePlan: rule by rule (rule_on_probe.h,
// clauses.h), then where each value stands (probe_layout.h), then the shape (shape_keys.h).
#pragma once

#include <optional>

#include "plan/plan_builder.h"

namespace mlbcc::plan {

// None if there is nothing to do on this function.
std::optional<ProbePlan> plan_probe(PlanBuilder& builder, const target::Probe& target);

}  // namespace mlbcc::plan
