#include "event/gauges.h"

#include <algorithm>
#include <tuple>
#include <utility>

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
    add_gauges(plan);
}

void Gauges::add_gauges(const plan::Plan& plan) {
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
        if (info == infos_.end()) info = infos_.insert(info, Info{gauge->name, "", emit.rule, {}});
        info->rule = std::min(info->rule, emit.rule);
        if (gauge->value && info->unit == rules::Unit::none) info->unit = gauge->value->type.unit;
        if (info->group_name.empty()) info->group_name = gauge->group_name;
    }
}

void Gauges::keep_types(State& state, KeptTypes& types) {
    if (state.group) types.keep_of(*state.group);
    for (auto& [key, held] : state.held) held.key_type = types.keep(held.key_type);
    if (state.peak.probe == nullptr) return;
    state.peak.function = state.peak.probe->function;
    state.peak.probe = nullptr;
}

void Gauges::release_stacks(State& state) {
    if (state.peak.stack != nullptr) symbols::StackTable::release(state.peak.stack);
    for (auto& [key, held] : state.held) {
        if (held.stack != nullptr) symbols::StackTable::release(held.stack);
    }
    entries_ -= state.held.size();
}

void Gauges::change_plan(const plan::Plan& plan, KeptTypes& types) {
    std::vector<Info> before = std::exchange(infos_, {});
    add_gauges(plan);
    std::deque<State> states = std::exchange(states_, {});
    std::unordered_map<const State*, State*> moved;
    for (State& state : states) {
        auto info = std::ranges::find(infos_, before[state.gauge].name, &Info::name);
        if (info == infos_.end()) {
            release_stacks(state);
            continue;
        }
        keep_types(state, types);
        State& kept = states_.emplace_back(std::move(state));
        kept.gauge = static_cast<uint32_t>(info - infos_.begin());
        moved.emplace(&state, &kept);
    }
    auto live = std::exchange(live_, {});
    for (auto& [key, one] : live) {
        for (State* state : one.states) {
            auto found = moved.find(state);
            if (found == moved.end()) continue;
            State& kept = *found->second;
            live_[live_key(kept.gauge, kept.pid)].states.push_back(&kept);
        }
    }
}

uint32_t Gauges::gauge(std::string_view name) const {
    auto info = std::ranges::find(infos_, name, &Info::name);
    MLBCC_CHECK(info != infos_.end());
    return static_cast<uint32_t>(info - infos_.begin());
}

// The part that the change says; where it says none, that of the key; where what it says is not
// known, one of its own.
Gauges::State* Gauges::state_of(Live& live, const Change& change) {
    std::optional<OwnedValue> group;
    if (change.group && !change.group->unread) group.emplace(*change.group);
    for (State* state : live.states) {
        if (!change.group && change.key && state->held.contains(change.key->bits)) return state;
    }
    for (State* state : live.states) {
        if (state->group.has_value() != group.has_value()) continue;
        if (!group || (!(*state->group < *group) && !(*group < *state->group))) return state;
    }
    if (states_.size() >= kMaxStates) return nullptr;
    State& state = states_.emplace_back();
    state.gauge = change.gauge;
    state.pid = change.pid;
    state.group = std::move(group);
    live.states.push_back(&state);
    return &state;
}

void Gauges::apply(const Change& change) {
    Live& live = live_[live_key(change.gauge, change.pid)];
    if (change.op == rules::GaugeOp::release) return release(live, change);
    if (change.key && change.value.bits == 0) return forget_key(live, change);
    State* state = state_of(live, change);
    if (state == nullptr) {
        ++refused_;
        return;
    }
    if (change.key) return set_key(live, *state, change);
    auto value = static_cast<int64_t>(change.value.bits);
    switch (change.op) {
    case rules::GaugeOp::add: value = plus(state->value, value); break;
    case rules::GaugeOp::sub: value = minus(state->value, value); break;
    case rules::GaugeOp::set:
    case rules::GaugeOp::release: break;
    }
    move_to(*state, value, change);
}

// Its value, which the state's own has not lost yet.
int64_t Gauges::take_key(State& state, uint64_t key) {
    auto found = state.held.find(key);
    if (found == state.held.end()) return 0;
    int64_t value = found->second.value;
    if (found->second.stack != nullptr) symbols::StackTable::release(found->second.stack);
    state.held.erase(found);
    --entries_;
    return value;
}

void Gauges::set_key(Live& live, State& state, const Change& change) {
    uint64_t key = change.key->bits;
    for (State* other : live.states) {
        if (other != &state) move_to(*other, minus(other->value, take_key(*other, key)), change);
    }
    int64_t old = take_key(state, key);
    auto value = static_cast<int64_t>(change.value.bits);
    if (entries_ >= max_entries_) {
        ++refused_;
        value = 0;
    } else {
        Held& held = state.held[key];
        held = {change.key->type, value, change.stack, std::nullopt, ""};
        if (change.key->learnt) held.name = change.key->text;
        if (change.owner && !change.owner->unread) held.owner = change.owner->bits;
        if (change.stack != nullptr) symbols::StackTable::retain(change.stack);
        ++entries_;
    }
    move_to(state, plus(state.value, minus(value, old)), change);
}

// Whoever frees may not know of which part it was.
void Gauges::forget_key(Live& live, const Change& change) {
    for (State* state : live.states) {
        int64_t old = take_key(*state, change.key->bits);
        if (old != 0) return move_to(*state, minus(state->value, old), change);
    }
    if (live.states.empty()) (void)state_of(live, change);
}

void Gauges::release(Live& live, const Change& change) {
    if (!change.owner || change.owner->unread) return;
    for (State* state : live.states) {
        std::vector<uint64_t> keys;
        for (const auto& [key, held] : state->held) {
            if (held.owner == change.owner->bits) keys.push_back(key);
        }
        int64_t value = state->value;
        for (uint64_t key : keys) value = minus(value, take_key(*state, key));
        move_to(*state, value, change);
    }
}

void Gauges::move_to(State& state, int64_t value, const Change& change) {
    state.value = value;
    if (value <= state.peak.value) return;
    if (state.peak.stack != nullptr) symbols::StackTable::release(state.peak.stack);
    state.peak = {value, change.time_ns, change.probe, change.tid, change.stack, {}};
    if (change.stack != nullptr) symbols::StackTable::retain(change.stack);
}

int64_t Gauges::now(uint32_t gauge, uint32_t pid, const std::optional<Value>& group) const {
    auto live = live_.find(live_key(gauge, pid));
    if (live == live_.end()) return 0;
    int64_t sum = 0;
    for (const State* state : live->second.states) {
        if (group) {
            OwnedValue wanted(*group);
            bool same = state->group && !(*state->group < wanted) && !(wanted < *state->group);
            if (!same) continue;
        }
        sum = plus(sum, state->value);
    }
    return sum;
}

void Gauges::process_ended(uint32_t pid) {
    for (uint32_t gauge = 0; gauge < infos_.size(); ++gauge) {
        auto found = live_.find(live_key(gauge, pid));
        if (found == live_.end()) continue;
        for (State* state : found->second.states) keep_largest(*state);
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
        if (held.stack != nullptr && !kept.contains(key)) symbols::StackTable::release(held.stack);
    }
    size_t dropped = state.held.size() - kept.size();
    state.forgotten += dropped;
    entries_ -= dropped;
    state.held = std::move(kept);
}

GaugeState Gauges::describe(const State& state) const {
    const Info& info = infos_[state.gauge];
    GaugeState out{.name = info.name, .rule = info.rule, .unit = info.unit, .pid = state.pid};
    out.value = state.value;
    out.peak = state.peak.value;
    out.peak_time_ns = state.peak.time_ns;
    out.peak_function =
        state.peak.probe != nullptr ? state.peak.probe->function : state.peak.function;
    out.peak_tid = state.peak.tid;
    if (state.peak.stack != nullptr) {
        out.peak_stack.assign(state.peak.stack->frames.begin(), state.peak.stack->frames.end());
    }
    out.group_name = info.group_name;
    if (state.group) out.group = state.group->value();
    out.held_count = state.held.size() + state.forgotten;
    for (const auto& [key, held] : largest(state)) {
        GaugeState::Held& shown = out.held.emplace_back(
            GaugeState::Held{*held->key_type, key, held->name, held->value, {}});
        if (held->stack != nullptr) {
            shown.stack.assign(held->stack->frames.begin(), held->stack->frames.end());
        }
    }
    return out;
}

std::vector<GaugeState> Gauges::states() const {
    std::vector<const State*> ordered;
    for (const State& state : states_) ordered.push_back(&state);
    std::ranges::stable_sort(ordered, {}, [this](const State* state) {
        return std::tuple(std::string_view(infos_[state->gauge].name), state->pid);
    });
    std::vector<GaugeState> out;
    for (const State* state : ordered) out.push_back(describe(*state));
    return out;
}

}  // namespace mlbcc::event
