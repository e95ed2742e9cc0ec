// The layers of a plan, which the summary is grouped by: a rule belongs to the layer (the type of
// the spans) of the functions that it matches, and a layer has the libraries of its functions.
//
//   USERSPACE (libcuda.so.1)  <-  all rules on cuda:...
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace mlbcc::sink {

struct Layer {
    std::string type;                    // "userspace"
    std::vector<std::string> libraries;  // "libcuda.so.1", in the plan's order
    std::vector<std::string> rules;      // their places
};

// In the order of the plan's probes. A rule that spans layers is in the first.
std::vector<Layer> layers_of(const plan::Plan& plan);

std::string layer_type(const plan::ProbePlan& probe);
std::string library_of(const plan::ProbePlan& probe);  // its soname

}  // namespace mlbcc::sink
