#include "account/sum_looks.h"

#include <algorithm>

#include "process/clock.h"

namespace mlbcc::account {
namespace {

// Unsigned, so that it is right for signed sums, too. Of the extremes all that is known is what
// they are so far.
codegen::AggregateValue gained(const codegen::AggregateValue& after,
                               const codegen::AggregateValue& before) {
    codegen::AggregateValue gain = after;
    gain.count -= before.count;
    gain.sum -= before.sum;
    for (size_t i = 0; i < gain.buckets.size(); ++i) gain.buckets[i] -= before.buckets[i];
    return gain;
}

// A look may come between two of a call's numbers: the next look has the rest.
bool has_gained(const codegen::AggregateValue& gain) {
    return gain.count != 0 || gain.sum != 0 ||
           std::ranges::any_of(gain.buckets, [](uint64_t calls) { return calls != 0; });
}

}  // namespace

// Libraries that come late bring more.
void SumLooks::find_intervals() {
    for (; aggregates_ < plan_.aggregates.size(); ++aggregates_) {
        uint64_t every = plan_.aggregates[aggregates_].every_ns;
        if (every > 0) intervals_.try_emplace(every, Interval{start_ns_, start_ns_ + every});
    }
}

int SumLooks::patience_ms(uint64_t now_ns, int most_ms) const {
    for (const auto& [every, interval] : intervals_)
        most_ms = process::ms_until(interval.next_ns, now_ns, most_ms);
    return most_ms;
}

void SumLooks::work(uint64_t now_ns, event::Pipeline& pipeline) {
    find_intervals();
    bool any = false;
    for (auto& [every, interval] : intervals_) {
        if (now_ns < interval.next_ns) continue;
        read(every, interval, now_ns);
        any = true;
    }
    if (any) pipeline.add_moment(now_ns);
}

void SumLooks::read(uint64_t every_ns, Interval& interval, uint64_t now_ns) {
    Look look{now_ns, interval.last_ns, every_ns, {}};
    for (const plan::Aggregate& aggregate : plan_.aggregates) {
        if (aggregate.every_ns != every_ns || !aggregate.in_kernel) continue;
        Told& told = told_[aggregate.id];
        for (Metrics::Kept& one : metrics_.kept_by_kernel(aggregate)) {
            codegen::AggregateValue& before = told.kept[one.key];
            codegen::AggregateValue gain = gained(one.value, before);
            before = one.value;
            if (has_gained(gain)) look.gains.push_back({aggregate.id, {std::move(one.key), gain}});
        }
    }
    interval.last_ns = now_ns;
    // Looks that are late are left out, not made up for.
    if (now_ns >= interval.next_ns)
        interval.next_ns += every_ns * ((now_ns - interval.next_ns) / every_ns + 1);
    looks_.push_back(std::move(look));
}

sink::Sums SumLooks::sums_of(const Look& look, const event::Pipeline& pipeline) {
    sink::Sums sums{look.time_ns, look.since_ns, look.every_ns, {}, {}};
    for (const plan::Aggregate& aggregate : plan_.aggregates) {
        if (aggregate.every_ns != look.every_ns) continue;
        std::vector<Metrics::Group> groups;
        for (const auto& [id, gain] : look.gains) {
            if (id != aggregate.id) continue;
            Metrics::merge({Metrics::shown(aggregate, gain.key, pipeline), gain.value}, groups);
        }
        if (aggregate.in_tracer) {
            Told& told = told_[aggregate.id];
            for (Metrics::Group& group : Metrics::tallied(aggregate, pipeline)) {
                Metrics::Group& before = told.tallied[group.by];
                Metrics::Group gain{group.by, gained(group.value, before.value),
                                    group.over_ns - before.over_ns};
                before = std::move(group);
                if (has_gained(gain.value)) Metrics::merge(std::move(gain), groups);
            }
        }
        metrics_.show(aggregate, std::move(groups), sums.stats, sums.hists);
    }
    return sums;
}

std::vector<sink::Sums> SumLooks::reached(uint64_t time_ns, const event::Pipeline& pipeline) {
    std::vector<sink::Sums> all;
    auto is_later = [&](const Look& look) { return look.time_ns > time_ns; };
    auto end = std::ranges::find_if(looks_, is_later);
    for (auto look = looks_.begin(); look != end; ++look) {
        sink::Sums sums = sums_of(*look, pipeline);
        if (!sums.stats.empty() || !sums.hists.empty()) all.push_back(std::move(sums));
    }
    looks_.erase(looks_.begin(), end);
    return all;
}

std::vector<sink::Sums> SumLooks::last(uint64_t now_ns, const event::Pipeline& pipeline) {
    find_intervals();
    for (auto& [every, interval] : intervals_) read(every, interval, now_ns);
    return reached(now_ns, pipeline);
}

}  // namespace mlbcc::account
