// The `summary` line of a trace back to what it was written from: the inverse of the JSONL sink's.
#pragma once

#include <vector>

#include "saved/json_line.h"
#include "sink/summary_text.h"

namespace mlbcc::saved {

// The time is that since the trace began.
sink::TraceEnd saved_end(const Json& summary);
// A `sums` line; its times are since the trace began.
sink::Sums saved_sums(const Json& line);
std::vector<sink::Layer> saved_layers(const Json& summary);

}  // namespace mlbcc::saved
