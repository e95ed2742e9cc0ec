// A plan while it is made.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace mlbcc::plan {

// What all probes share while a plan is made.
struct PlanBuilder {
    Plan& plan;
    const std::vector<std::string>& tables;  // names that some rule learns
    const std::vector<std::string>& gauges;  // of all rules
    Diagnostics& diagnostics;
    bool keep_mangled = false;                                  // RuleSet::keep_mangled
    std::set<std::pair<const SourceFile*, uint32_t>> reported;  // places of mistakes
    bool probes_functions = false;  // of programs: their ends may be system calls, too
    bool grows = false;             // the plan is carried out already

    // Over hundreds of functions a mistake is told once, for the first.
    void report(const Diagnostics& found);
    ShapeId shape(rules::Stage end, std::string key);
};

uint32_t sample_of(const rules::Rule& rule);  // it keeps one call in so many

}  // namespace mlbcc::plan
