#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sink/layers.h"
#include "sink/sink.h"

namespace mlbcc::sink {
namespace {

Gauge gauge_of(const event::GaugeState& state, const plan::Plan& plan, uint64_t start_ns) {
    Gauge gauge;
    gauge.rule = plan.rules[static_cast<uint32_t>(state.rule)].place;
    gauge.name = state.name;
    gauge.unit = state.unit;
    gauge.pid = state.pid;
    gauge.value = state.value;
    gauge.peak = state.peak;
    if (state.group) gauge.by.emplace_back(state.group_name, json_text(*state.group));
    if (!state.peak_function.empty()) {
        gauge.at_peak = {state.peak_time_ns - std::min(start_ns, state.peak_time_ns),
                         state.peak_function, state.peak_stack};
    }
    gauge.held_count = state.held_count;
    for (const event::GaugeState::Held& held : state.held) {
        event::Value key{&held.key_type, held.key, held.name, !held.name.empty(), false};
        gauge.held.push_back({json_text(key), held.value, held.stack});
    }
    return gauge;
}

LargestOnes::Field field_of(const event::NamedValue& one) {
    return {std::string(one.name), json_text(one.value), one.value.type->unit};
}

LargestOnes largest_of(const event::Pipeline& pipeline, const plan::Plan& plan, plan::ListId id,
                       uint64_t start_ns) {
    const plan::LargestList& list = plan.lists[static_cast<uint32_t>(id)];
    LargestOnes out{plan.rules[static_cast<uint32_t>(list.rule)].place, list.title, list.by,
                    list.unit};
    out.calls = pipeline.largest().calls(id);
    out.lost.by_records = true;
    plan::ValueType type;
    if (list.is_signed) type.kind = plan::ValueType::Kind::signed_int;
    for (const event::LargestEntry& one : pipeline.largest().entries(id)) {
        LargestOnes::Entry& entry = out.entries.emplace_back();
        entry.time_ns = one.time_ns - std::min(start_ns, one.time_ns);
        entry.pid = one.pid;
        entry.tid = one.tid;
        entry.comm = one.comm;
        entry.value = {list.by, json_text({&type, one.bits, {}, false, false}), list.unit};
        for (const event::NamedValue& value : one.values) entry.fields.push_back(field_of(value));
        entry.stack.assign(one.stack.begin(), one.stack.end());
    }
    return out;
}

std::vector<FunctionTime> functions_of(const event::Pipeline& pipeline) {
    std::map<std::tuple<std::string, std::string, std::string>, FunctionTime> joined;
    for (const event::ProbeTime& one : pipeline.function_times()) {
        FunctionTime time{one.probe->function, library_of(*one.probe), layer_type(*one.probe)};
        FunctionTime& all =
            joined.try_emplace({time.function, time.library, time.layer}, time).first->second;
        all.calls += one.calls;
        all.total_ns += one.total_ns;
        all.max_ns = std::max(all.max_ns, one.max_ns);
    }
    std::vector<FunctionTime> out;
    for (auto& [key, time] : joined) out.push_back(std::move(time));
    std::ranges::stable_sort(out, std::greater{}, &FunctionTime::max_ns);
    return out;
}

// In the order of the rules, of which several may stand on one line.
void add_rule_counts(const event::Pipeline& pipeline, const plan::Plan& plan,
                     std::vector<RuleLoss>& losses) {
    auto from = losses.begin();
    for (uint32_t i = 0; i < plan.rules.size(); ++i) {
        const plan::RuleInfo& rule = plan.rules[i];
        auto found = std::find_if(from, losses.end(),
                                  [&](const RuleLoss& one) { return one.rule == rule.place; });
        if (found == losses.end()) found = losses.insert(from, RuleLoss{rule.place});
        from = std::next(found);
        event::RuleCounts counts = pipeline.counts(static_cast<plan::RuleId>(i));
        found->received = counts.received;
        found->without_stack = counts.without_stack;
        found->unmatched_begin = counts.unmatched_begin;
        found->unmatched_end = counts.unmatched_end;
        found->sample = rule.sample;
    }
}

class Losses {
public:
    explicit Losses(const std::vector<RuleLoss>& rules) {
        for (const RuleLoss& one : rules) {
            Lost& lost = by_rule_[one.rule];
            lost.lost += one.lost;
            lost.submitted += one.submitted;
        }
    }
    Lost of(const std::set<std::string>& rules) const {
        Lost all{true};
        for (const std::string& rule : rules) {
            auto found = by_rule_.find(rule);
            if (found == by_rule_.end()) continue;
            all.lost += found->second.lost;
            all.submitted += found->second.submitted;
        }
        return all;
    }
    template <class T> void touch(std::vector<T>& numbers) const {
        for (T& one : numbers) {
            if (one.lost.by_records) one.lost = of({one.rule});
        }
    }

private:
    std::map<std::string, Lost> by_rule_;  // by its place
};

// By gauge, the places of the rules that change it.
std::map<std::string, std::set<std::string>> rules_of_gauges(const plan::Plan& plan) {
    std::map<std::string, std::set<std::string>> all;
    auto add = [&](const std::optional<plan::RecordPlan>& record) {
        if (!record) return;
        for (const plan::Emit& emit : record->emits) {
            const auto* gauge = std::get_if<plan::GaugeEmit>(&emit.what);
            for (size_t i = 0; gauge != nullptr && i < record->rules.size(); ++i) {
                if ((emit.mask >> i & 1) == 0) continue;
                all[gauge->name].insert(plan.rules[static_cast<uint32_t>(record->rules[i])].place);
            }
        }
    };
    for (const plan::ProbePlan& probe : plan.probes) {
        add(probe.entry);
        add(probe.ret);
    }
    return all;
}

void add_losses(const plan::Plan& plan, MetricSnapshot& metrics) {
    const bool any = std::ranges::any_of(metrics.losses, [](auto& one) { return one.lost > 0; });
    if (!any) return;
    const Losses losses(metrics.losses);
    losses.touch(metrics.stats);
    losses.touch(metrics.hists);
    losses.touch(metrics.largest);
    const auto rules = rules_of_gauges(plan);
    for (Gauge& gauge : metrics.gauges) {
        if (auto found = rules.find(gauge.name); found != rules.end())
            gauge.lost = losses.of(found->second);
    }
}

}  // namespace

void add_counts(TraceEnd& end, const event::Pipeline& pipeline, const plan::Plan& plan,
                uint64_t start_ns) {
    static_cast<event::Totals&>(end) = pipeline.totals();
    end.metrics.gauges.clear();
    for (const event::GaugeState& state : pipeline.gauges()) {
        end.metrics.gauges.push_back(gauge_of(state, plan, start_ns));
    }
    end.metrics.largest.clear();
    for (uint32_t i = 0; i < plan.lists.size(); ++i) {
        auto id = static_cast<plan::ListId>(i);
        end.metrics.largest.push_back(largest_of(pipeline, plan, id, start_ns));
    }
    end.metrics.functions = functions_of(pipeline);
    add_rule_counts(pipeline, plan, end.metrics.losses);
    add_losses(plan, end.metrics);
}

}  // namespace mlbcc::sink
