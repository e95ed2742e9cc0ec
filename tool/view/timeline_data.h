// What a timeline draws: of each thread the lanes of its types of calls, each with a row a nesting
// level. Bounded: threads and levels beyond the most are counted only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "view/call_table.h"
#include "view/time_columns.h"
#include "view/view.h"

namespace mlbcc::view {

struct TimelineLane {
    std::vector<TimeRow> rows;  // by nesting level
    std::vector<uint64_t>
        open_to;  // ends of the calls that the last one is in, the outermost first
};

struct TimelineThread {
    std::string comm;
    uint64_t calls = 0;
    uint64_t launches = 0, works = 0;  // works: calls that are no waits
    uint64_t waits = 0, waited_ns = 0;
    uint64_t began_ns = UINT64_MAX, ended_ns = 0;  // as far as calls tell
    // From its beginning to its end, as the threads of pools do.
    bool slept() const;
    // 0: it launches something; 1: it calls something; 2: it only waits.
    int rank() const { return launches > 0 ? 0 : works > 0 ? 1 : 2; }
    std::map<std::string, TimelineLane, std::less<>> lanes;  // by type
};

struct TimelineData {
    using ThreadId = std::pair<uint32_t, uint32_t>;  // process, thread

    explicit TimelineData(const CallSelection& which)
        : wanted(which),
          columns(which.from_ns > 0 ? std::optional(which.from_ns) : std::nullopt, which.to_ns) {}
    // Where nothing else is asked for, from the first to the last event: the trace may begin long
    // before, and end long after.
    uint64_t from_ns() const {
        if (wanted.from_ns > 0) return wanted.from_ns;
        return std::min(first_ns, seen_ns);
    }
    uint64_t to_ns() const {
        const uint64_t end_ns = std::max(ending.time_ns, seen_ns);
        return wanted.to_ns < end_ns ? wanted.to_ns : std::max(seen_ns, from_ns());
    }

    CallSelection wanted;
    TimeColumns columns;
    std::map<ThreadId, TimelineThread> threads;
    TimeRow losses;
    CallTable table;
    uint64_t calls = 0, moments = 0;
    uint64_t first_ns = UINT64_MAX, seen_ns = 0;  // the first moment, the end of the last call
    uint64_t not_held = 0;  // calls of threads, or of levels, for which there was no room
    Ending ending;
};

std::string timeline_text(TimelineData& data, const TimelineLook& look);

}  // namespace mlbcc::view
