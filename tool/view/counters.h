// What is drawn as lines over time: events of the type `counter`, and what the shipped rules find
// at each look at the memory of a process.
#pragma once

#include "view/drawn_event.h"

namespace mlbcc::view {

class Counters {
public:
    // Its arguments that are numbers are the lines. Null: it is no counter. Valid until the next
    // call, and as long as `record`.
    const DrawnEvent* of(const DrawnEvent& record);

private:
    DrawnEvent sample_;
};

}  // namespace mlbcc::view
