#include "phases/gpu_phases.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sink/format.h"

namespace mlbcc::phases {

namespace {

void cut_beginning(const GpuCalls& calls, const Beginning& beginning, PhaseReport& report) {
    if (!beginning.was_seen)
        return report.begin("run", beginning.time_ns,
                            "the trace begins; the process was already running");
    report.begin("start_up", beginning.time_ns, "the process begins");
    if (beginning.script_ns && *beginning.script_ns < calls.begin_ns())
        report.begin("import", *beginning.script_ns, "Python opens its script");
    report.begin("first_run", calls.begin_ns(), "the GPU's driver is called for the first time");
}

}  // namespace

std::vector<TimeRange> Repeated::without_first() const {
    return {spans.begin() + static_cast<ptrdiff_t>(first), spans.end()};
}

std::optional<Repeated> repeated_calls(const GpuCalls& calls, uint64_t from_ns) {
    std::optional<GpuSteps> found = calls.steps(from_ns);
    if (!found) return {};
    std::string evidence =
        fmt::format("{} {} again and again, {} times", calls.names_of(found->calls),
                    found->calls.size() == 1 ? "comes" : "come", found->steps.size());
    return Repeated{std::move(found->steps), found->first, std::move(evidence), false};
}

void cut_by_gpu(const GpuCalls& calls, const Beginning& beginning, uint64_t from_ns,
                PhaseReport& report) {
    cut_beginning(calls, beginning, report);
    std::optional<Repeated> repeated = repeated_calls(calls, from_ns);
    if (repeated) {
        report.repetitions = repeated->without_first();
        report.repetition_evidence = std::move(repeated->evidence);
        report.begin("steps", report.repetitions.front().begin_ns,
                     repeated->first > 0
                         ? "the first repetitions, which loaded code and took longer, are over"
                         : "from here on it repeats");
        if (!calls.lost())
            report.begin("end", report.repetitions.back().end_ns, "the last repetition is over");
        return;
    }
    report.repetition_evidence = "no repetition is seen: copies and waits do not recur";
    std::optional<uint64_t> loaded_ns = calls.loaded_ns();
    if (!beginning.was_seen || !loaded_ns) return;
    GpuCalls::Loads loads = calls.loads_in({beginning.time_ns, *loaded_ns});
    report.begin("run", *loaded_ns,
                 fmt::format("code was loaded {}", sink::plural(loads.count, "time")));
}

}  // namespace mlbcc::phases
