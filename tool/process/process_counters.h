// Counters of the CPU, or of the kernel, for whole processes: of the threads that a process has at
// the first look, and of all that they start, from that look on (perf_event_open(2), inherited).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include <linux/perf_event.h>

#include "base/unique_fd.h"

namespace mlbcc::process {

struct CounterEvent {
    uint32_t type = PERF_TYPE_HARDWARE;
    uint64_t config = 0;  // PERF_COUNT_HW_CPU_CYCLES, ...
    bool operator<(const CounterEvent& other) const {
        return std::tie(type, config) < std::tie(other.type, other.config);
    }
};

class ProcessCounters {
public:
    // 0 at the first look; nothing where this machine has no such counter, where it may not be
    // read, or where the process has more threads than are followed. `started` tells processes of
    // one id apart. Where counters take turns, the time without is made up for.
    std::optional<uint64_t> read(int pid, uint64_t started, CounterEvent event);
    // Those of other processes are closed; `pids` are sorted.
    void keep_only(const std::vector<int>& pids);

private:
    struct Process {
        uint64_t started = 0;
        std::map<CounterEvent, std::vector<UniqueFd>> open;  // empty: cannot be read
    };
    std::vector<UniqueFd> open(int pid, CounterEvent event);

    std::map<int, Process> processes_;
    std::set<CounterEvent> absent_;  // from this machine
};

}  // namespace mlbcc::process
