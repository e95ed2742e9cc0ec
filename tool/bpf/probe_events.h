// Where sysfs tells how perf_event_open(2) probes functions: for kernels without links for many at
// a time.
//
//   /sys/bus/event_source/devices/uprobe/{type,format/retprobe}: "8", "config:0"  ->  {8, 1 << 0}
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mlbcc::bpf {

struct ProbeEvents {
    uint32_t type = 0;          // perf_event_attr::type
    uint64_t return_flags = 0;  // perf_event_attr::config of a probe on the return
};
// `kind`: "uprobe" or "kprobe". Errors: the kernel has no such events.
Result<ProbeEvents> probe_events(const std::string& kind);

// A link of a program to one place of a file, which keeps the event; none, with errno.
struct EventPlace {
    uint64_t offset = 0, semaphore = 0;
    bool at_return = false;
};
UniqueFd link_uprobe_event(const ProbeEvents& events, const std::string& path,
                           const EventPlace& place, int program, uint64_t cookie);

}  // namespace mlbcc::bpf
