// What the kernel counted, read from its maps, and what the tracer did itself: the statistics,
// histograms and accounts that sinks show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "account/coverage.h"
#include "bpf/kernel.h"
#include "event/pipeline.h"
#include "plan/plan.h"
#include "sink/sink.h"

namespace mlbcc::account {

class Metrics {
public:
    Metrics(const plan::Plan& plan, bpf::LoadedProgram& loaded) : plan_(plan), loaded_(loaded) {}

    // `pipeline` knows what was received and counted by the tracer, and the gauges.
    // `coverage` is told which functions were counted.
    sink::MetricSnapshot snapshot(const event::Pipeline& pipeline, Coverage& coverage);

    // One group of an aggregate as it is shown, with its numbers over all CPUs.
    struct Group {
        sink::Group by;
        codegen::AggregateValue value{};
        uint64_t over_ns = 0;
    };
    struct Kept {  // in the kernel; an aggregate without a map has one, without a key
        std::vector<std::byte> key;
        codegen::AggregateValue value{};
    };
    std::vector<Kept> kept_by_kernel(const plan::Aggregate& aggregate);
    static sink::Group shown(const plan::Aggregate& aggregate, std::span<const std::byte> key,
                             const event::Pipeline& pipeline);
    static std::vector<Group> tallied(const plan::Aggregate& aggregate,
                                      const event::Pipeline& pipeline);
    // Different keys may look alike.
    static void merge(Group group, std::vector<Group>& groups);
    // Those with most calls first.
    void show(const plan::Aggregate& aggregate, std::vector<Group> groups,
              std::vector<sink::Stat>& stats, std::vector<sink::Hist>& hists) const;

    // What was lost since the last call, a Loss for each CPU that lost something.
    std::vector<event::Loss> new_losses(uint64_t now_ns);
    uint64_t lost_process_records() const;  // of forks, execs and exits

private:
    void add_aggregate(const plan::Aggregate& aggregate, const event::Pipeline& pipeline,
                       Coverage& coverage, sink::MetricSnapshot& out);
    void add_losses(const event::Pipeline& pipeline, sink::MetricSnapshot& out);
    struct CpuAccounts {
        std::vector<codegen::Account>
            rules;  // behind the last rule what they share, then process records
        std::vector<codegen::Total> totals;  // by AggregateId
    };
    std::vector<CpuAccounts> accounts() const;
    const std::vector<codegen::AccountedRules>& rule_sets() const;

    const plan::Plan& plan_;
    bpf::LoadedProgram& loaded_;
    mutable std::vector<codegen::AccountedRules>
        rule_sets_;  // as of so many probes: the plan may grow
    mutable size_t rule_sets_of_ = 0;
    struct Told {  // lost, so far
        std::vector<uint64_t> rules;
        uint64_t records = 0;
    };
    std::vector<Told> told_;  // by CPU
};

}  // namespace mlbcc::account
