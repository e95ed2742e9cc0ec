#include "phases/phase_use.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace mlbcc::phases {
namespace {

// Sums never go down, but a number of another source may be behind for a moment.
uint64_t more(uint64_t before, uint64_t after) {
    return after > before ? after - before : 0;
}

uint64_t between(uint64_t a, uint64_t b, double part) {
    double from = static_cast<double>(a), to = static_cast<double>(b);
    return static_cast<uint64_t>(std::llround(from + (to - from) * part));
}

}  // namespace

void LookHistory::add(const saved::EventFields& one) {
    constexpr std::array<std::string_view, kSums> kNames{
        "cpu_time",     "read_chars",   "written_chars", "cycles",
        "instructions", "cache_misses", "branch_misses"};
    if (!one.has("resident") || seen_++ % every_ != 0) return;
    Look look{one.time_ns, one.natural("resident"), one.natural("anonymous"), {}};
    for (size_t i = 0; i < kSums; ++i) {
        look.sums.at(i) = one.natural(kNames.at(i));
        known_.at(i) = known_.at(i) || one.has(kNames.at(i));
    }
    looks_.push_back(look);
    if (looks_.size() <= most_) return;
    every_ *= 2;
    size_t kept = 0;
    for (size_t i = 0; i < looks_.size(); i += 2) looks_[kept++] = looks_[i];
    looks_.resize(kept);
}

LookHistory::Look LookHistory::at(uint64_t time_ns, std::optional<uint64_t> begin_ns) const {
    auto after = std::ranges::lower_bound(looks_, time_ns, {}, &Look::time_ns);
    if (after == looks_.end()) return looks_.back();
    if (after == looks_.begin() && !begin_ns) return looks_.front();
    Look found = after == looks_.begin() ? Look{*begin_ns, 0, 0, {}} : *(after - 1);
    if (time_ns <= found.time_ns) return found;
    double part = static_cast<double>(time_ns - found.time_ns) /
                  static_cast<double>(after->time_ns - found.time_ns);
    found.time_ns = time_ns;
    for (size_t i = 0; i < kSums; ++i)
        found.sums.at(i) = between(found.sums.at(i), after->sums.at(i), part);
    return found;
}

std::optional<PhaseUse> LookHistory::used(const TimeRange& time,
                                          std::optional<uint64_t> begin_ns) const {
    if (looks_.empty()) return {};
    const Look first = at(time.begin_ns, begin_ns), last = at(time.end_ns, begin_ns);
    auto grown = [&](Sum sum) { return more(first.sums.at(sum), last.sums.at(sum)); };
    auto counted = [&](Sum sum) {
        return known_.at(sum) ? std::optional(grown(sum)) : std::nullopt;
    };
    PhaseUse use{grown(cpu), grown(read), grown(written), {}, {}, {}};
    CpuCounters counters{counted(cycles), counted(instructions), counted(cache_misses),
                         counted(branch_misses)};
    if (std::find(known_.begin() + cycles, known_.end(), true) != known_.end())
        use.counters = counters;
    auto from = std::ranges::lower_bound(looks_, time.begin_ns, {}, &Look::time_ns);
    auto to = std::ranges::lower_bound(looks_, time.end_ns, {}, &Look::time_ns);
    if (from == to) return use;
    use.peak_resident_bytes = std::ranges::max_element(from, to, {}, &Look::resident)->resident;
    if (to - from > 1) {
        use.memory_growth_bytes =
            static_cast<int64_t>((to - 1)->resident) - static_cast<int64_t>(from->resident);
    }
    return use;
}

std::vector<MemoryLook> LookHistory::anonymous() const {
    std::vector<MemoryLook> made;
    made.reserve(looks_.size());
    for (const Look& look : looks_) made.push_back({look.time_ns, look.anonymous});
    return made;
}

static void add_members(sink::JsonWriter& json, const CpuCounters& counters) {
    sink::member(json, "cycles", counters.cycles);
    sink::member(json, "instructions", counters.instructions);
    sink::member(json, "cache_misses", counters.cache_misses);
    sink::member(json, "branch_misses", counters.branch_misses);
}

void add_members(sink::JsonWriter& json, const PhaseUse& use) {
    sink::member(json, "cpu_ns", use.cpu_ns);
    sink::member(json, "read_bytes", use.read_bytes);
    sink::member(json, "written_bytes", use.written_bytes);
    sink::member(json, "memory_growth_bytes", use.memory_growth_bytes);
    sink::member(json, "peak_resident_bytes", use.peak_resident_bytes);
    sink::member(json, "counters", use.counters);
}

}  // namespace mlbcc::phases
