// What `count`, `sum` and `hist` add to a probe: a use of a map in the kernel, or of a tally that
// the tracer keeps where the kernel knows too little.
#pragma once

#include "plan/rule_on_probe.h"

namespace mlbcc::plan {

struct Aggregation {  // one of these clauses
    const rules::Clause& clause;
    AggregateKind kind{};
    const rules::Kept& kept;
    const rules::Expr* value = nullptr;
    const rules::Expr* over = nullptr;
};
void plan_aggregate(RuleOnProbe& rule, const Aggregation& wanted);

// Whether the rule only counts, by what is known when a call begins: it does so then, and needs no
// probe on the return, which costs as much again.
bool counts_beginnings(const PlanBuilder& builder, const ProbePlan& probe, const rules::Rule& rule);

}  // namespace mlbcc::plan
