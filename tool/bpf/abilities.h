// What this kernel lets this process do, found by doing it for a moment: maps are made, programs
// that do nothing are loaded and attached to a function of our own and to one of the kernel's.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace mlbcc::bpf {

struct Attempt {
    bool works = false;
    int code = 0;  // errno, where it does not
};

struct Abilities {
    Attempt map, program;                          // what all others need
    Attempt uprobe, uprobe_multi, uprobe_session;  // a function of our own program
    Attempt cookies;                               // programs are told which probe was hit
    Attempt kprobe, kprobe_multi, kprobe_session;  // a function of the kernel
    Attempt raw_tracepoint, ring_buffer;
    Attempt perf_events;    // of what all processes of a CPU map
    Attempt kernel_memory;  // programs may read it
    Attempt registers;      // programs may set those of what runs into a probe
};
// Takes some 0.3 s where uprobes are attached by perf events: that is how long the kernel detaches.
Abilities try_abilities();

// What two probes on a function and a record of 64 bytes from each cost here.
struct EventCost {
    double event_ns = 0;                 // of one probe and its record, nanoseconds of CPU time
    double call_ns = 0;                  // of the function without probes
    uint64_t expected = 0, records = 0;  // of the calls that were made: equal, or probes miss calls
};
// By the best way to attach that was found, for the calls of this process only.
Result<EventCost> measure_event(const Abilities& abilities);

}  // namespace mlbcc::bpf
