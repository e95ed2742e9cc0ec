// What a process used in a stretch of time, from regular looks at it (rules/profile_memory.rules):
// between two looks it is taken to have been used evenly, so a phase's share is as exact as a look
// at each of its ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "phases/repetitions.h"
#include "saved/event_fields.h"
#include "sink/json_writer.h"

namespace mlbcc::phases {

// The CPU's own; those that the machine has.
struct CpuCounters {
    std::optional<uint64_t> cycles, instructions, cache_misses, branch_misses;
};

struct PhaseUse {
    uint64_t cpu_ns = 0;                         // all threads together
    uint64_t read_bytes = 0, written_bytes = 0;  // whatever they were read from and written to
    // Of the resident memory, from the first look in the phase to the last; nothing with fewer than
    // two: what is next to a boundary belongs to no side for sure.
    std::optional<int64_t> memory_growth_bytes;
    std::optional<uint64_t> peak_resident_bytes;  // the most that a look in it saw
    std::optional<CpuCounters> counters;          // nothing where no look had any
};

class LookHistory {
public:
    explicit LookHistory(size_t most = 100'000) : most_(most) {}
    // A process.memory.
    void add(const saved::EventFields& one);
    // `begin_ns`: of the process; nothing if it was there before the trace.
    std::optional<PhaseUse> used(const TimeRange& time, std::optional<uint64_t> begin_ns) const;
    // Memory that no file is behind.
    std::vector<MemoryLook> anonymous() const;

private:
    enum Sum : size_t {
        cpu,
        read,
        written,
        cycles,
        instructions,
        cache_misses,
        branch_misses,
        kSums
    };
    struct Look {
        uint64_t time_ns = 0;
        uint64_t resident = 0, anonymous = 0;
        std::array<uint64_t, kSums> sums{};  // what only grows, since the process began
    };
    Look at(uint64_t time_ns, std::optional<uint64_t> begin_ns) const;

    size_t most_;
    uint64_t every_ = 1, seen_ = 0;  // of too many looks every second, fourth, ... is kept
    std::vector<Look> looks_;
    std::array<bool, kSums> known_{};  // some look had it
};

void add_members(sink::JsonWriter& json, const PhaseUse& use);

}  // namespace mlbcc::phases
