// The parts of a JSON line that never change, prepared for each clause of the plan.
//
//   ,"type":"memory","name":"alloc","function":"cuMemAlloc","symbol":"cuMemAlloc_v2","phase":"X",
//   "address":   "size":
#pragma once

#include <string>
#include <vector>

#include "event/event.h"

namespace mlbcc::sink {

struct ClauseText {
    std::string head;                // from the type up to where the thread is named
    std::vector<std::string> names;  // by index into the clause's fields, each with its colon
};

std::vector<ClauseText> clause_texts(const plan::Plan& plan);  // by ClauseId

}  // namespace mlbcc::sink
