// What a job had of GPUs, from rules/profile_gpu.rules: calls of the driver, and the memory of
// devices by the ledger.
//
//   sum duration by function as "gpu calls"     process.gpu_memory  held     gauge gpu_bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "phases/repetitions.h"
#include "profile/section.h"
#include "profile/system_calls.h"
#include "saved/event_fields.h"

namespace mlbcc::profile {

// Of one process on one device.
struct GpuLedger {
    uint32_t pid = 0;
    std::string device;  // its number; "" where that is not known
    uint64_t peak_bytes = 0, peak_ns = 0;
    std::string peak_function;  // whose call it was
    uint64_t held_bytes = 0;    // at the end
};

struct GpuStep {  // bytes of all processes together
    uint64_t time_ns = 0, bytes = 0;
};

struct GpuReport {
    CallTotals calls;
    std::vector<GpuLedger> ledgers;  // the most first
    std::vector<GpuStep> steps;      // whenever a look saw another number; of many some
    bool empty() const { return calls.calls == 0 && ledgers.empty(); }
};

struct GpuMemoryUse {
    int64_t growth_bytes = 0;
    uint64_t peak_bytes = 0;
};

class GpuUse {
public:
    explicit GpuUse(size_t most_steps = 100'000) : most_(most_steps) {}
    void add(const saved::EventFields& one);
    void add(const sink::Sums& gained);  // its times are since the trace began
    // Nothing was launched before; 0 where nothing was at all.
    uint64_t launches_ns() const;
    // By the looks that lie in this time, wholly; nothing where they are less than nine tenths of
    // it. Of all processes.
    std::optional<double> launches_per_second(const phases::TimeRange& time) const;
    GpuReport report(const sink::MetricSnapshot& metrics) const;

private:
    void keep(uint64_t time_ns);

    size_t most_;
    uint64_t total_ = 0;
    std::map<uint32_t, uint64_t> held_;  // by process
    std::vector<GpuStep> steps_;
    struct Launches {
        phases::TimeRange time;
        uint64_t count = 0;
    };
    std::vector<Launches> launches_;
};

// Of a stretch of time, as exact as a look; nothing where no memory was ever held.
std::optional<GpuMemoryUse> memory_in(const GpuReport& report, const phases::TimeRange& time);

void add_rows(sink::Rows& rows, const GpuReport& gpu);
void add_members(JsonWriter& json, const GpuReport& gpu);

}  // namespace mlbcc::profile
