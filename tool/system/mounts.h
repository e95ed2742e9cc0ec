// The kernel's tracing file system: where it is, and the numbers that it gives to tracepoints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mlbcc::system {

// The folder where tracefs is: /sys/kernel/tracing, or below debugfs. Mounts it where it is not;
// the Error says what to run where that is not permitted.
Result<std::string> ensure_tracefs();

// What perf_event_open() takes as the config of a tracepoint, e.g. of `sched`,
// `sched_process_fork`.
Result<uint64_t> tracepoint_id(const std::string& tracefs, std::string_view category,
                               std::string_view name);

}  // namespace mlbcc::system
