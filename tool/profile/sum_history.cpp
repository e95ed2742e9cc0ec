#include "profile/sum_history.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "profile/keyed_sums.h"

namespace mlbcc::profile {
namespace {

uint64_t part_of(uint64_t value, uint64_t part, uint64_t whole) {
    if (part >= whole) return value;
    double share = static_cast<double>(part) / static_cast<double>(whole);
    return static_cast<uint64_t>(std::llround(static_cast<double>(value) * share));
}

// How many of `value` lie in the stretch, the rest being before and behind it: differences of what
// lies before its ends, so that those of all stretches add up.
uint64_t share_of(uint64_t value, const phases::TimeRange& time, const phases::TimeRange& stretch) {
    uint64_t length = time.end_ns - time.begin_ns;
    auto before = [&](uint64_t at) {
        return at <= time.begin_ns ? 0 : part_of(value, at - time.begin_ns, length);
    };
    return before(stretch.end_ns) - before(stretch.begin_ns);
}

// What began before the process that was first, or came behind the end of the last, did not happen
// there: a look is sooner and later.
phases::TimeRange life_of_all(const std::vector<ProcessLife>& lives) {
    phases::TimeRange alive{UINT64_MAX, 0};
    for (const ProcessLife& life : lives) {
        alive.begin_ns = std::min(alive.begin_ns, life.begin_ns);
        alive.end_ns = std::max(alive.end_ns, life.end_ns);
    }
    return alive;
}

phases::TimeRange within(phases::TimeRange time, const phases::TimeRange& alive) {
    bool fits = std::max(time.begin_ns, alive.begin_ns) < std::min(time.end_ns, alive.end_ns);
    if (fits) {
        time.begin_ns = std::max(time.begin_ns, alive.begin_ns);
        time.end_ns = std::min(time.end_ns, alive.end_ns);
    }
    if (time.end_ns <= time.begin_ns) time.end_ns = time.begin_ns + 1;
    return time;
}

uint64_t overlap_of(const ThreadLife& thread, const phases::TimeRange& stretch) {
    uint64_t begin = std::max(thread.begin_ns, stretch.begin_ns);
    uint64_t end = std::min(thread.end_ns, stretch.end_ns);
    return end > begin ? end - begin : 0;
}

uint64_t length_of(const ThreadLife& thread) {
    return thread.end_ns - std::min(thread.begin_ns, thread.end_ns);
}

// When what ended at the look, and took this long, began at the latest.
uint64_t begin_of(const sink::Sums& gained, uint64_t took_ns) {
    return std::min(gained.since_ns, gained.time_ns - std::min(gained.time_ns, took_ns));
}

}  // namespace

void SumHistory::Numbers::add(const Numbers& other) {
    calls += other.calls;
    ns += other.ns;
    errors += other.errors;
}

void SumHistory::add(const sink::Sums& gained) {
    add_to_whole(gained);
    Pieces pieces;
    add_calls(gained, pieces);
    add_waits(gained, pieces);
    for (const auto& [at, numbers] : pieces) {
        const auto& [begin_ns, end_ns, key] = at;
        pieces_.push_back({&*keys_.insert(key).first, {begin_ns, end_ns}, numbers});
    }
    if (pieces_.size() > most_) make_room();
}

// Calls that took longer than since the last look began before it; that they ended is counted now.
void SumHistory::add_calls(const sink::Sums& gained, Pieces& pieces) {
    for (const sink::Stat& stat : gained.stats) {
        bool is_calls = stat.label.ends_with(kCallsOf), is_errors = stat.label.ends_with(kErrorsOf);
        if ((!is_calls && !is_errors) || key_text(stat.by, "function").empty()) continue;
        size_t kind = (is_calls ? kCallsOf : kErrorsOf).size();
        Key key{false, stat.label.substr(0, stat.label.size() - kind), {}};
        Numbers& counted = pieces[{gained.since_ns, gained.time_ns, key}];
        counted.errors += is_errors ? stat.value : 0;
        if (!is_calls) continue;
        counted.calls += stat.calls;
        uint64_t average_ns = stat.value / std::max<uint64_t>(stat.calls, 1);
        pieces[{begin_of(gained, average_ns), gained.time_ns, key}].ns += stat.value;
    }
}

// A thread waits for one thing at a time, so that its waits are at least as long as their sum.
void SumHistory::add_waits(const sink::Sums& gained, Pieces& pieces) {
    std::map<ThreadId, std::map<std::string, uint64_t>> waits;
    for (const sink::Hist& hist : gained.hists) {
        if (auto thread = waiting_thread(hist)) waits[*thread][""] += hist.sum;
    }
    for (const sink::Stat& stat : gained.stats) {
        if (auto wait = wait_of(stat)) waits[wait->first][wait->second] += stat.value;
    }
    for (const auto& [thread, reasons] : waits) {
        uint64_t all_ns = 0, named_ns = 0;
        for (const auto& [reason, ns] : reasons) (reason.empty() ? all_ns : named_ns) += ns;
        uint64_t begin_ns = begin_of(gained, std::max(all_ns, named_ns));
        for (const auto& [reason, ns] : reasons)
            pieces[{begin_ns, gained.time_ns, {true, reason, thread}}].ns += ns;
    }
}

void SumHistory::add_to_whole(const sink::Sums& gained) {
    for (const sink::Stat& stat : gained.stats) {
        auto [found, is_new] = stats_.try_emplace({stat.rule, stat.label, stat.by}, stat);
        if (is_new) continue;
        found->second.value += stat.value;
        found->second.calls += stat.calls;
        found->second.over_ns += stat.over_ns;
        found->second.is_signed |= stat.is_signed;
    }
    for (const sink::Hist& hist : gained.hists) {
        auto [found, is_new] = hists_.try_emplace({hist.rule, hist.label, hist.by}, hist);
        if (is_new) continue;
        found->second.count += hist.count;
        found->second.sum += hist.sum;
        found->second.min = hist.min;
        found->second.max = hist.max;
        found->second.is_signed |= hist.is_signed;
    }
}

sink::MetricSnapshot SumHistory::whole() const {
    sink::MetricSnapshot all;
    for (const auto& [key, stat] : stats_) all.stats.push_back(stat);
    for (const auto& [key, hist] : hists_) all.hists.push_back(hist);
    for (sink::Hist& hist : all.hists) hist.buckets.clear();
    return all;
}

// Of each key every two pieces become one, over the time of both.
void SumHistory::make_room() {
    std::map<const Key*, size_t> alone;
    std::vector<Piece> kept;
    for (const Piece& piece : pieces_) {
        auto [found, is_first] = alone.try_emplace(piece.key, kept.size());
        if (is_first) {
            kept.push_back(piece);
            continue;
        }
        Piece& both = kept[found->second];
        both.time.begin_ns = std::min(both.time.begin_ns, piece.time.begin_ns);
        both.time.end_ns = std::max(both.time.end_ns, piece.time.end_ns);
        both.numbers.add(piece.numbers);
        alone.erase(found);
    }
    pieces_ = std::move(kept);
}

SumHistory::Shared SumHistory::shared_by_key(const std::vector<phases::TimeRange>& stretches,
                                             const phases::TimeRange& alive) const {
    Shared shared;
    for (const Piece& piece : pieces_) {
        std::vector<Numbers>& parts = shared[*piece.key];
        parts.resize(stretches.size() + 1);
        phases::TimeRange time = within(piece.time, alive);
        Numbers left = piece.numbers;
        auto first =
            std::ranges::upper_bound(stretches, time.begin_ns, {}, &phases::TimeRange::end_ns);
        for (auto one = first; one != stretches.end() && one->begin_ns < time.end_ns; ++one) {
            Numbers part{share_of(piece.numbers.calls, time, *one),
                         share_of(piece.numbers.ns, time, *one),
                         share_of(piece.numbers.errors, time, *one)};
            parts[static_cast<size_t>(one - stretches.begin())].add(part);
            left.calls -= part.calls;
            left.ns -= part.ns;
            left.errors -= part.errors;
        }
        parts.back().add(left);
    }
    return shared;
}

namespace {

using Reasons = std::map<std::string, uint64_t>;

// What no reason was found for, shared as all waits are, less those with a reason.
void name_the_rest(const std::vector<uint64_t>& all, std::vector<Reasons>& named) {
    uint64_t total = 0, known = 0, weights = 0;
    std::vector<uint64_t> weight(all.size());
    for (size_t i = 0; i < all.size(); ++i) {
        uint64_t here = 0;
        for (const auto& [reason, ns] : named[i]) here += ns;
        weight[i] = all[i] - std::min(all[i], here);
        weights += weight[i];
        total += all[i];
        known += here;
    }
    uint64_t rest = total - std::min(total, known), before = 0, given = 0;
    for (size_t i = 0; i < all.size() && rest > 0; ++i) {
        before += weight[i];
        uint64_t part = part_of(rest, before, weights) - given;
        given += part;
        if (part > 0) named[i]["other"] += part;
    }
}

using Waits = std::map<ThreadId, std::vector<Reasons>>;  // by stretch

// Of each thread that ended and was not idle, what lies of its life in each stretch, and the rest.
void add_times(const std::vector<phases::TimeRange>& stretches,
               const std::vector<ProcessLife>& lives, const Waits& waits,
               std::vector<TimedSums>& made) {
    for (const ProcessLife& life : lives) {
        for (const ThreadLife& thread : life.threads) {
            if (thread.idle || thread.shares_number) continue;
            auto found = waits.find({life.pid, thread.tid});
            uint64_t left = length_of(thread);
            for (size_t i = 0; i < made.size(); ++i) {
                uint64_t here = i < stretches.size() ? overlap_of(thread, stretches[i]) : left;
                left -= here;
                if (here == 0) continue;
                add_thread(made[i].time, here, found == waits.end() ? Reasons{} : found->second[i]);
            }
        }
    }
}

}  // namespace

std::vector<TimedSums> SumHistory::shared(const std::vector<phases::TimeRange>& stretches,
                                          const std::vector<ProcessLife>& lives) const {
    std::vector<TimedSums> made(stretches.size() + 1);
    Waits waits;
    std::map<ThreadId, std::vector<uint64_t>> all_waits;
    for (const auto& [key, parts] : shared_by_key(stretches, life_of_all(lives))) {
        for (size_t i = 0; i < parts.size(); ++i) {
            const Numbers& part = parts[i];
            if (!key.is_wait && key.name == kGpuCategory) {
                made[i].gpu = {{part.calls, part.ns, part.errors}, key.name};
            } else if (!key.is_wait) {
                add_category(made[i].calls, {{part.calls, part.ns, part.errors}, key.name});
            } else if (key.name.empty()) {
                all_waits[key.thread].resize(made.size());
                all_waits[key.thread][i] += part.ns;
            } else {
                waits[key.thread].resize(made.size());
                if (part.ns > 0) waits[key.thread][i][key.name] += part.ns;
            }
        }
    }
    for (auto& [thread, all] : all_waits) {
        waits[thread].resize(made.size());
        name_the_rest(all, waits[thread]);
    }
    for (TimedSums& one : made) sort_categories(one.calls);
    for (const auto& [thread, reasons] : waits) {
        for (size_t i = 0; i < made.size(); ++i)
            for (const auto& [reason, ns] : reasons[i]) made[i].off_cpu_ns[reason] += ns;
    }
    add_times(stretches, lives, waits, made);
    return made;
}

}  // namespace mlbcc::profile
