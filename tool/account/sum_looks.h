// Looks at counts, sums and histograms while the trace runs, as `every TIME` asks for: what each
// gained since the last look. The kernel's numbers are read at the moment itself; those that the
// tracer keeps, and the names of groups, when the pipeline has reached it.
//
//   work() at 0.1 s ... Pipeline gives what is before ... reached()  ->  {since 0, at 0.1, +3
//   calls}
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "account/metrics.h"
#include "event/pipeline.h"
#include "plan/plan.h"
#include "sink/sink.h"

namespace mlbcc::account {

class SumLooks {
public:
    SumLooks(const plan::Plan& plan, Metrics& metrics) : plan_(plan), metrics_(metrics) {}

    void start(uint64_t now_ns) { start_ns_ = now_ns; }
    // How long may be waited for other things, at most `most_ms`.
    int patience_ms(uint64_t now_ns, int most_ms) const;
    // What is due is read, and the pipeline asked for the moment.
    void work(uint64_t now_ns, event::Pipeline& pipeline);
    // What was read at that moment; nothing that gained nothing.
    std::vector<sink::Sums> reached(uint64_t time_ns, const event::Pipeline& pipeline);
    // All that was gained since, of all intervals. The pipeline must have given all.
    std::vector<sink::Sums> last(uint64_t now_ns, const event::Pipeline& pipeline);

private:
    using Gain = Metrics::Kept;
    struct Look {
        uint64_t time_ns = 0, since_ns = 0, every_ns = 0;
        std::vector<std::pair<plan::AggregateId, Gain>> gains;  // of what the kernel keeps
    };
    struct Interval {
        uint64_t last_ns = 0, next_ns = 0;
    };
    struct Told {  // of an aggregate, so far
        std::map<std::vector<std::byte>, codegen::AggregateValue> kept;
        std::map<sink::Group, Metrics::Group> tallied;
    };

    void find_intervals();
    void read(uint64_t every_ns, Interval& interval, uint64_t now_ns);
    sink::Sums sums_of(const Look& look, const event::Pipeline& pipeline);

    const plan::Plan& plan_;
    Metrics& metrics_;
    uint64_t start_ns_ = 0;
    size_t aggregates_ = 0;                   // of the plan, that were looked through
    std::map<uint64_t, Interval> intervals_;  // by their length
    std::map<plan::AggregateId, Told> told_;
    std::vector<Look> looks_;  // not reached yet
};

}  // namespace mlbcc::account
