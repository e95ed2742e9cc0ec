// Looks at the traced processes, as rules on `interval:` ask for: at which moments, at whom, and
// how much each value has changed since the last look at that process.
//
//   every 100 ms, of process 70:  {resident, cpu_time, ...}  ->  Pipeline::add_look()
//
// All is done by the thread that reads the rings, a few milliseconds at a time between its sweeps.
// Looks that come too late are left out, not made up for.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "event/pipeline.h"
#include "plan/plan.h"
#include "process/process_reader.h"

namespace mlbcc::account {

class ProcessLooks {
public:
    explicit ProcessLooks(const plan::Plan& plan);

    // The fields that rules on an interval ask for, as bits.
    static uint64_t fields_of(const plan::ProbePlan& probe);
    // The first looks are due at once, or after their periods.
    void start(uint64_t now_ns, bool at_once);
    // How long may be waited for other things, at most `most_ms`.
    int patience_ms(uint64_t now_ns, int most_ms) const;
    // Looks that are due, for a few milliseconds. `processes` says who is traced.
    using Processes = std::function<std::vector<int>()>;
    void work(uint64_t now_ns, const Processes& processes, event::Pipeline& pipeline);
    // For the user, where many were left out.
    std::optional<std::string> note() const;

private:
    struct Last {
        uint64_t started = 0, time_ns = 0, unread = 0;
        std::array<int64_t, target::kProcessFieldCount> fields{};
    };
    struct Interval {
        plan::ProbeId probe{};
        uint64_t period_ns = 0, next_ns = UINT64_MAX;
        uint64_t wanted = 0;       // fields, as bits
        std::vector<int> waiting;  // processes that are still to be looked at
        std::unordered_map<int, Last> last;
        uint64_t done = 0, missed = 0;
    };

    void begin_round(Interval& interval, uint64_t now_ns, const Processes& processes);
    void look(Interval& interval, int pid, event::Pipeline& pipeline);

    std::vector<Interval> intervals_;
    process::ProcessReader reader_;
};

}  // namespace mlbcc::account
