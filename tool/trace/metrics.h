// What the kernel counted, read from its maps, and what the tracer did itself: the statistics,
// histograms and accounts that sinks show.
#pragma once

#include <cstdint>
#include <vector>

#include "bpf/kernel.h"
#include "event/pipeline.h"
#include "plan/plan.h"
#include "sink/sink.h"
#include "trace/coverage.h"

namespace mlbcc::trace {

class Metrics {
public:
    Metrics(const plan::Plan& plan, bpf::LoadedProgram& loaded) : plan_(plan), loaded_(loaded) {}

    // `pipeline` knows the names that were learnt, what was received, and the gauges.
    // `coverage` is told which functions were counted.
    sink::MetricSnapshot snapshot(const event::Pipeline& pipeline, Coverage& coverage);

    // What was lost since the last call, a Loss for each CPU that lost something.
    std::vector<event::Loss> new_losses(uint64_t now_ns);
    uint64_t lost_process_records() const;  // of forks, execs and exits

private:
    struct Group;
    void add_aggregate(const plan::Aggregate& aggregate, const event::Pipeline& pipeline,
                       Coverage& coverage, sink::MetricSnapshot& out);
    static void merge(Group group, std::vector<Group>& groups);
    void add_total(const plan::Aggregate& aggregate, std::vector<Group>& groups) const;
    void add_kept_by_kernel(const plan::Aggregate& aggregate, const event::Pipeline& pipeline,
                            Coverage& coverage, std::vector<Group>& groups);
    static void add_tallied(const plan::Aggregate& aggregate, const event::Pipeline& pipeline,
                            std::vector<Group>& groups);
    static void add_group(const plan::Aggregate& aggregate, const std::string& rule, Group& group,
                          sink::MetricSnapshot& out);
    void add_losses(const event::Pipeline& pipeline, sink::MetricSnapshot& out);
    struct CpuAccounts {
        std::vector<codegen::Account>
            rules;  // behind the last rule what they share, then process records
        std::vector<codegen::Total> totals;  // by AggregateId
    };
    std::vector<CpuAccounts> accounts() const;

    const plan::Plan& plan_;
    bpf::LoadedProgram& loaded_;
    struct Told {  // lost, so far
        std::vector<uint64_t> rules;
        uint64_t records = 0;
    };
    std::vector<Told> told_;  // by CPU
};

}  // namespace mlbcc::trace
