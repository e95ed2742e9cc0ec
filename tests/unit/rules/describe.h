// A tree of rules as text, one line a part, with every operator in parentheses.
#pragma once

#include <string>

#include "rules/rules.h"

namespace mlbcc::rules {

std::string describe(const Expr& expr);
std::string describe(const Clause& clause);
std::string describe(const Rule& rule);
std::string describe(const RuleSet& rules);

}  // namespace mlbcc::rules
