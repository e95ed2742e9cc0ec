#include "account/tracing_cost.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "sink/layers.h"

namespace mlbcc::account {
namespace {

// 0: hits are hot; 1: cold.
double coldness(std::span<const WorkOf> all, std::optional<uint64_t> cpu_ns) {
    uint64_t hits = 0;
    for (const WorkOf& one : all) hits += one.work.hits;
    if (!cpu_ns || hits == 0) return 0;
    const double gap = static_cast<double>(*cpu_ns) / static_cast<double>(hits);
    const double steps = std::log(std::max(gap, bpf::kHotGapNs) / bpf::kHotGapNs);
    return std::min(1.0, steps / std::log(bpf::kColdGapNs / bpf::kHotGapNs));
}

// Of the kernel's own points, one is half of what both ends of a system call are.
double trap_ns(const WorkOf& one, const bpf::TrapCost& function, const bpf::HitCost& hit) {
    const double syscall = hit.syscall;
    const auto hits = static_cast<double>(one.work.hits);
    const uint64_t gone = one.in_session ? std::min(one.work.let_go, one.work.hits) : 0;
    const double ends = one.probe->has_return() ? static_cast<double>(one.work.hits - gone) : 0;
    switch (one.probe->kind) {
    case plan::ProbeKind::function:
        if (codegen::side_of(*one.probe) == codegen::Side::moving)  // a probe at each end
            return hits * (function.entry + (one.steps_entry ? hit.step : 0)) +
                   ends * (function.entry + (one.steps_return ? hit.step : 0));
        return hits * (function.entry + (one.steps_entry ? hit.step : 0)) +
               ends * (function.both - function.entry);
    case plan::ProbeKind::usdt: return hits * function.entry;
    case plan::ProbeKind::syscall: return hits * syscall;
    case plan::ProbeKind::kernel: return (hits + ends) * syscall / 2;
    case plan::ProbeKind::tracepoint:
    case plan::ProbeKind::defined: return hits * syscall / 2;
    case plan::ProbeKind::interval: break;
    }
    return 0;
}

// What programs took for a record: as those that were timed say, of this probe and of all, and as
// long as there are few of them, as measured before.
class RecordTimes {
public:
    RecordTimes(std::span<const WorkOf> all, double measured) : usual_(measured) {
        codegen::ProbeWork sum{};
        for (const WorkOf& one : all) {
            sum.timed += one.work.timed;
            sum.timed_ns += one.work.timed_ns;
        }
        usual_ = of(sum);
    }
    double of(const codegen::ProbeWork& work) const {
        return (static_cast<double>(work.timed_ns) + kFew * usual_) /
               (static_cast<double>(work.timed) + kFew);
    }

private:
    static constexpr double kFew = 8;
    double usual_;
};

// Whether some rule on the function has it by a pattern.
bool is_by_pattern(const plan::ProbePlan& probe) {
    if (probe.probe == nullptr) return false;
    return std::ranges::any_of(probe.probe->uses, [](const target::RuleUse& use) {
        return use.target != nullptr &&
               use.target->pattern.find_first_of("*?[") != std::string::npos;
    });
}

}  // namespace

sink::TracingCost tracing_cost(std::span<const WorkOf> all, const bpf::HitCost& hit,
                               std::optional<uint64_t> cpu_ns) {
    const double cold = coldness(all, cpu_ns);
    auto between = [&](double bpf::TrapCost::*which) {
        return hit.hot.*which + cold * (hit.cold.*which - hit.hot.*which);
    };
    const bpf::TrapCost function{between(&bpf::TrapCost::entry), between(&bpf::TrapCost::both)};
    const RecordTimes records(all, hit.record);
    std::map<std::pair<std::string, std::string>, sink::TracingCost::Function> by_function;
    sink::TracingCost made;
    made.cpu_ns = cpu_ns;
    for (const WorkOf& one : all) {
        if (one.work.hits == 0 && one.work.records == 0) continue;
        const double ns = trap_ns(one, function, hit) +
                          static_cast<double>(one.work.records) * records.of(one.work);
        const std::string library = sink::library_of(*one.probe);
        auto& own = by_function[{one.probe->function, library}];
        own.function = one.probe->function;
        own.library = library;
        own.hits += one.work.hits;
        own.ns += static_cast<uint64_t>(ns);
        own.by_pattern = own.by_pattern || is_by_pattern(*one.probe);
    }
    for (auto& [key, own] : by_function) {
        made.ns += own.ns;
        made.functions.push_back(std::move(own));
    }
    if (cpu_ns && made.ns > *cpu_ns) {  // estimated too high, all alike
        const double share = static_cast<double>(*cpu_ns) / static_cast<double>(made.ns);
        for (auto& own : made.functions)
            own.ns = static_cast<uint64_t>(static_cast<double>(own.ns) * share);
        made.ns = *cpu_ns;
    }
    std::ranges::stable_sort(made.functions, std::greater{}, &sink::TracingCost::Function::ns);
    made.functions.resize(std::min(made.functions.size(), sink::TracingCost::kMostFunctions));
    return made;
}

}  // namespace mlbcc::account
