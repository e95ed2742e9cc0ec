// Which probes are of one shape, and share a program: those of equal keys.
#pragma once

#include <string>

#include "plan/plan.h"

namespace mlbcc::plan {

std::string entry_key(const ProbePlan& probe);
std::string return_key(const ProbePlan& probe);

}  // namespace mlbcc::plan
