// The `summary` line of a trace back to what it was written from: the inverse of the JSONL sink's.
#pragma once

#include <vector>

#include "saved/json_line.h"
#include "sink/summary_text.h"

namespace mlbcc::saved {

struct SavedSummary {
    sink::TraceEnd end;  // its time is that since the trace began
    std::vector<sink::Layer> layers;
};
SavedSummary read_summary(const Json& line);
// A `sums` line; its times are since the trace began.
sink::Sums saved_sums(const Json& line);

}  // namespace mlbcc::saved
