// What tracing cost, as people read it.
//
//   about 0.9 s of 2.1 s of CPU time (43 %)
#pragma once

#include <string>
#include <vector>

#include "sink/rows.h"
#include "sink/sink.h"

namespace mlbcc::sink {

// A share of the threads' time from which tracing is worth a warning.
inline constexpr double kDearShare = 0.2;

std::string cost_text(const TracingCost& cost);
// Of the functions that cost most, where that is a twentieth of the threads' time or, where that is
// not known, of the whole cost: "cuCtxGetDevice 0.68 s in 402 070 calls; leave it out with ...".
std::vector<std::string> cost_by_function(const TracingCost& cost);
// Of functions whose calls, as measured, are hardly longer than what tracing adds to each: "run
// took 15.4 us a call, most of it tracing (about 13.1 us a call)". The most often called first.
std::vector<std::string> mostly_tracing(const TracingCost& cost,
                                        const std::vector<FunctionTime>& functions);
void add_cost(Rows& rows, const TracingCost& cost);  // both, as lines of a section

}  // namespace mlbcc::sink
