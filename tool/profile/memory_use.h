// Memory of processes over time, from the looks of rules/profile_memory.rules:
//
//   process.memory  resident, anonymous, file_mapped, minor_faults, major_faults
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "profile/section.h"
#include "saved/event_fields.h"

namespace mlbcc::profile {

struct MemorySample {  // bytes
    uint64_t time_ns = 0;
    uint32_t pid = 0;
    uint64_t resident = 0, anonymous = 0, file_mapped = 0;
};

struct MemoryReport {
    // Of all processes together, as far as looks show it; pages that they share count for each.
    uint64_t peak_resident = 0, peak_ns = 0;
    uint64_t minor_faults = 0, major_faults = 0;  // up to the last look at each
    // Every `every`th look at a process, so that long traces do not make long reports.
    uint64_t every = 1;
    std::vector<MemorySample> samples;
};

class MemoryUse {
public:
    explicit MemoryUse(size_t most_samples = 2000) : most_(most_samples) {}
    void add(const saved::EventFields& one);
    MemoryReport report() const;

private:
    struct Faults {
        uint64_t minor = 0, major = 0;
    };
    void keep(const MemorySample& sample);

    size_t most_;
    uint64_t total_ = 0;
    std::map<uint32_t, uint64_t> resident_, looks_;  // by process: now; how many there were
    std::map<uint32_t, Faults> faults_;
    std::vector<std::pair<uint64_t, MemorySample>> samples_;  // with the look's number
    MemoryReport report_;
};

void add_rows(sink::Rows& rows, const MemoryReport& memory);
void add_members(JsonWriter& json, const MemoryReport& memory);

}  // namespace mlbcc::profile
