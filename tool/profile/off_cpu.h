// How long threads were off the CPU and why, from the sums of rules/profile_waits.rules:
//
//   hist duration by pid, tid as "off the CPU"      sum ... by pid, tid as "off the CPU: REASON"
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "profile/long_waits.h"
#include "profile/process_tree.h"
#include "profile/section.h"
#include "sink/sink.h"

namespace mlbcc::profile {

using ThreadId = std::pair<uint32_t, uint32_t>;  // process and thread

struct OffCpuTime {
    uint64_t total_ns = 0, events = 0, min_ns = 0, max_ns = 0;
    uint64_t average_ns() const { return events == 0 ? 0 : total_ns / events; }
    void add(const OffCpuTime& other);
};

struct ThreadOffCpu {
    OffCpuTime time;
    // By reason; what no rule names is `other`, so that they add up to the time.
    std::map<std::string, uint64_t> reasons_ns;
};

struct OffCpuReport {
    OffCpuTime time;
    std::map<std::string, uint64_t> reasons_ns;
    std::map<ThreadId, ThreadOffCpu> threads;
    std::vector<ThreadId> longest;  // of `threads`, those with the most time first; ten at most
    // Of those that are not idle, as these two are from leave_out() on.
    OffCpuTime working;
    std::set<ThreadId> idle;
    LongWaitReport long_waits;
};

// Whose waits these are; nothing where they are of something else.
std::optional<ThreadId> waiting_thread(const sink::Hist& hist);
// Whose waits for what reason these are, likewise.
std::optional<std::pair<ThreadId, std::string>> wait_of(const sink::Stat& stat);

OffCpuReport off_cpu_report(const sink::MetricSnapshot& metrics);
// These threads are idle.
void leave_out(std::set<ThreadId> idle, OffCpuReport& report);

void add_rows(sink::Rows& rows, const OffCpuReport& off, const std::vector<ProcessLife>& lives);
void add_members(JsonWriter& json, const OffCpuReport& off);

}  // namespace mlbcc::profile
