// What a trace says of itself at its beginning.
#pragma once

#include <cstdint>

#include "sink/sink.h"
#include "trace/frontend.h"
#include "trace/options.h"

namespace mlbcc::trace {

sink::TraceInfo trace_info(const TraceOptions& options, const Frontend& frontend,
                           uint64_t start_ns);

}  // namespace mlbcc::trace
