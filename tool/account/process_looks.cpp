#include "account/process_looks.h"

#include <algorithm>

#include <fmt/format.h>

#include "process/clock.h"

namespace mlbcc::account {
namespace {

constexpr uint64_t kBudgetNs = 4'000'000;  // of looks between two sweeps of the rings
constexpr uint64_t kManyOf = 10;           // one round in ten missed is worth a note

}  // namespace

// Values are fields and their changes.
uint64_t ProcessLooks::fields_of(const plan::ProbePlan& probe) {
    uint64_t fields = 0;
    for (uint64_t values = probe.asked_parameters(); values != 0; values &= values - 1) {
        fields |= uint64_t{1} << target::field_of(static_cast<uint32_t>(__builtin_ctzll(values)));
    }
    return fields;
}

ProcessLooks::ProcessLooks(const plan::Plan& plan) {
    for (const plan::ProbePlan& probe : plan.probes) {
        if (probe.kind != plan::ProbeKind::interval) continue;
        const auto& at = std::get<target::Interval>(probe.probe->at);
        Interval& made = intervals_.emplace_back();
        made.probe = probe.id;
        made.period_ns = at.period_ns;
        made.wanted = fields_of(probe);
    }
}

void ProcessLooks::start(uint64_t now_ns, bool at_once) {
    for (Interval& one : intervals_) one.next_ns = at_once ? now_ns : now_ns + one.period_ns;
}

int ProcessLooks::patience_ms(uint64_t now_ns, int most_ms) const {
    for (const Interval& one : intervals_) {
        if (!one.waiting.empty()) return 0;
        most_ms = process::ms_until(one.next_ns, now_ns, most_ms);
    }
    return most_ms;
}

void ProcessLooks::begin_round(Interval& interval, uint64_t now_ns, const Processes& processes) {
    uint64_t late = (now_ns - interval.next_ns) / interval.period_ns;
    interval.missed += late;
    interval.next_ns += (late + 1) * interval.period_ns;
    ++interval.done;
    interval.waiting = processes();
    std::ranges::sort(interval.waiting);
    reader_.keep_only(interval.waiting);
    std::erase_if(interval.last, [&](const auto& one) {
        return !std::ranges::binary_search(interval.waiting, one.first);
    });
    std::ranges::reverse(interval.waiting);  // taken from the end
}

void ProcessLooks::work(uint64_t now_ns, const Processes& processes, event::Pipeline& pipeline) {
    for (Interval& one : intervals_) {
        if (one.waiting.empty() && now_ns >= one.next_ns) begin_round(one, now_ns, processes);
        while (!one.waiting.empty()) {
            if (process::monotonic_ns() - now_ns > kBudgetNs) return;
            int pid = one.waiting.back();
            one.waiting.pop_back();
            look(one, pid, pipeline);
        }
    }
}

// Of the first look at a process nothing is known to have changed, and no time has passed.
void ProcessLooks::look(Interval& interval, int pid, event::Pipeline& pipeline) {
    uint64_t now_ns = process::monotonic_ns();
    std::optional<process::ProcessState> state = reader_.read(pid, interval.wanted);
    if (!state) return;
    Last& last = interval.last[pid];
    bool is_first = last.time_ns == 0 || last.started != state->started;
    Last now{state->started, now_ns, state->unread, state->fields};
    if (is_first) last = now;
    now.fields[0] = static_cast<int64_t>(now_ns - last.time_ns);
    std::array<int64_t, target::kProcessValueCount> values{};
    uint64_t unread = 0;
    for (uint32_t value = 0; value < target::kProcessValueCount; ++value) {
        uint32_t field = target::field_of(value);
        bool is_change = value >= target::kProcessFieldCount;
        uint64_t missing = is_change ? now.unread | last.unread : now.unread;
        values.at(value) = now.fields.at(field) - (is_change ? last.fields.at(field) : 0);
        unread |= (missing >> field & 1) << value;
    }
    last = now;
    pipeline.add_look({interval.probe, now_ns, static_cast<uint32_t>(pid), state->parent,
                       state->cpu, state->comm, values, unread});
}

std::optional<std::string> ProcessLooks::note() const {
    uint64_t done = 0, missed = 0;
    for (const Interval& one : intervals_) {
        done += one.done;
        missed += one.missed;
    }
    if (missed * kManyOf <= done + missed) return std::nullopt;
    return fmt::format(
        "{} of {} samples of the processes were not taken in time: use a longer interval", missed,
        done + missed);
}

}  // namespace mlbcc::account
