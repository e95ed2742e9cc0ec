// What a trace says of itself at its beginning.
#pragma once

#include <cstdint>

#include "load/frontend.h"
#include "session/options.h"
#include "sink/sink.h"

namespace mlbcc::session {

sink::TraceInfo trace_info(const TraceOptions& options, const load::Frontend& frontend,
                           uint64_t start_ns);

}  // namespace mlbcc::session
