#include "event/gauges.h"

#include <algorithm>
#include <tuple>

#include "base/result.h"

namespace mlbcc::event {
namespace {

uint64_t live_key(uint32_t gauge, uint32_t pid) {
    return static_cast<uint64_t>(gauge) << 32 | pid;
}

// Sums wrap as the kernel's do.
int64_t plus(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t minus(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

}  // namespace

Gauges::Gauges(const plan::Plan& plan, size_t max_entries) : max_entries_(max_entries) {
    for (const plan::ProbePlan& probe : plan.probes) {
        if (probe.entry) add_gauges(*probe.entry);
        if (probe.ret) add_gauges(*probe.ret);
    }
}

void Gauges::add_gauges(const plan::RecordPlan& record) {
    for (const plan::Emit& emit : record.emits) {
        const auto* gauge = std::get_if<plan::GaugeEmit>(&emit.what);
        if (gauge == nullptr) continue;
        auto info = std::ranges::find(infos_, gauge->name, &Info::name);
        if (info == infos_.end()) info = infos_.insert(info, Info{gauge->name, emit.rule, {}});
        info->rule = std::min(info->rule, emit.rule);
        rules::Unit unit = record.layout.fields[gauge->value].type.unit;
        if (info->unit == rules::Unit::none) info->unit = unit;
    }
}

uint32_t Gauges::gauge(std::string_view name) const {
    auto info = std::ranges::find(infos_, name, &Info::name);
    MLBCC_CHECK(info != infos_.end());
    return static_cast<uint32_t>(info - infos_.begin());
}

Gauges::State* Gauges::state_of(uint32_t gauge, uint32_t pid) {
    auto found = live_.find(live_key(gauge, pid));
    if (found != live_.end()) return found->second;
    if (states_.size() >= kMaxStates) return nullptr;
    State& state = states_.emplace_back();
    state.gauge = gauge;
    state.pid = pid;
    live_.emplace(live_key(gauge, pid), &state);
    return &state;
}

void Gauges::apply(const Change& change) {
    State* state = state_of(change.gauge, change.pid);
    if (state == nullptr) {
        ++refused_;
        return;
    }
    if (change.key) return set_key(*state, change);
    auto value = static_cast<int64_t>(change.value.bits);
    switch (change.op) {
    case rules::GaugeOp::set: break;
    case rules::GaugeOp::add: value = plus(state->value, value); break;
    case rules::GaugeOp::sub: value = minus(state->value, value); break;
    }
    move_to(*state, value, change.time_ns);
}

void Gauges::set_key(State& state, const Change& change) {
    auto value = static_cast<int64_t>(change.value.bits);
    auto found = state.held.find(change.key->bits);
    int64_t old = 0;
    if (found != state.held.end()) {
        old = found->second.value;
        if (found->second.stack != nullptr) StackTable::release(found->second.stack);
        state.held.erase(found);
        --entries_;
    }
    if (value != 0 && entries_ >= max_entries_) {
        ++refused_;
        value = 0;
    }
    if (value != 0) {
        state.held[change.key->bits] = {change.key->type, value, change.stack};
        if (change.stack != nullptr) StackTable::retain(change.stack);
        ++entries_;
    }
    move_to(state, plus(state.value, minus(value, old)), change.time_ns);
}

void Gauges::move_to(State& state, int64_t value, uint64_t time_ns) {
    state.value = value;
    if (value <= state.peak) return;
    state.peak = value;
    state.peak_time_ns = time_ns;
}

void Gauges::process_ended(uint32_t pid) {
    for (uint32_t gauge = 0; gauge < infos_.size(); ++gauge) {
        auto found = live_.find(live_key(gauge, pid));
        if (found == live_.end()) continue;
        keep_largest(*found->second);
        live_.erase(found);
    }
}

std::vector<std::pair<uint64_t, const Gauges::Held*>> Gauges::largest(const State& state) {
    std::vector<std::pair<uint64_t, const Held*>> all;
    for (const auto& [key, held] : state.held) all.emplace_back(key, &held);
    size_t shown = std::min(all.size(), kMaxShown);
    std::partial_sort(all.begin(), all.begin() + static_cast<ptrdiff_t>(shown), all.end(),
                      [](const auto& a, const auto& b) {
                          return std::tuple(b.second->value, a.first) <
                                 std::tuple(a.second->value, b.first);
                      });
    all.resize(shown);
    return all;
}

void Gauges::keep_largest(State& state) {
    if (state.held.size() <= kMaxShown) return;
    std::unordered_map<uint64_t, Held> kept;
    for (const auto& [key, held] : largest(state)) kept.emplace(key, *held);
    for (const auto& [key, held] : state.held) {
        if (held.stack != nullptr && !kept.contains(key)) StackTable::release(held.stack);
    }
    size_t dropped = state.held.size() - kept.size();
    state.forgotten += dropped;
    entries_ -= dropped;
    state.held = std::move(kept);
}

GaugeState Gauges::describe(const State& state, const Tables& tables) const {
    const Info& info = infos_[state.gauge];
    GaugeState out{info.name,          info.rule,   info.unit,
                   state.pid,          state.value, state.peak,
                   state.peak_time_ns, {},          state.held.size() + state.forgotten};
    for (const auto& [key, held] : largest(state)) {
        GaugeState::Held& shown =
            out.held.emplace_back(GaugeState::Held{*held->key_type, key, "", held->value, {}});
        if (held->stack != nullptr) {
            shown.stack.assign(held->stack->frames.begin(), held->stack->frames.end());
        }
        auto table = tables.table(held->key_type->learnt_table);
        std::optional<Value> name = table ? tables.find(*table, state.pid, key) : std::nullopt;
        if (name && name->learnt) shown.name = name->text;
    }
    return out;
}

std::vector<GaugeState> Gauges::states(const Tables& tables) const {
    std::vector<const State*> ordered;
    for (const State& state : states_) ordered.push_back(&state);
    std::ranges::stable_sort(ordered, {}, [this](const State* state) {
        return std::tuple(std::string_view(infos_[state->gauge].name), state->pid);
    });
    std::vector<GaugeState> out;
    for (const State* state : ordered) out.push_back(describe(*state, tables));
    return out;
}

}  // namespace mlbcc::event
