// The kernel's tracing file system: where it is, and the numbers that it gives to tracepoints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mlbcc::files {

// The folder where tracefs is: /sys/kernel/tracing, or below debugfs. Mounts it where it is not;
// the Error says what to run where that is not permitted.
Result<std::string> ensure_tracefs();

// A kernel's file system as it is found: nothing is mounted for good.
struct MountState {
    std::string folder;  // where it is; "" if it is not mounted
    int code = 0;  // errno of an attempt to mount it, in a mount namespace of its own; 0: it can
};
MountState tracefs_state();

// What perf_event_open() takes as the config of a tracepoint, e.g. of `sched`,
// `sched_process_fork`.
Result<uint64_t> tracepoint_id(const std::string& tracefs, std::string_view category,
                               std::string_view name);

}  // namespace mlbcc::files
