// What a rule asks for by its clauses.
#pragma once

#include "rules/rules.h"

namespace mlbcc::plan {

// `stack user` and its like; the program's also where groups are `by stack` and no clause says
// which.
rules::StackKinds wanted_stacks(const rules::Rule& rule);
bool wants_span(const rules::Rule& rule);

}  // namespace mlbcc::plan
