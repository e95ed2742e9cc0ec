#include "phases/gpu_steps.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace mlbcc::phases {
namespace {

constexpr size_t kLeast = 4;             // steps
constexpr double kLeastAlike = 0.6;      // of the stretches
constexpr double kLeastAlikeTime = 0.3;  // of their time: or they are a burst within a step
constexpr double kLeastOfWork = 0.3;     // of the time from the first copy or wait to the last
constexpr double kAsMuch = 0.8;          // of the time that is covered at best
constexpr double kSlow = 2;              // times as long as the one in the middle
constexpr double kTold = 0.9;            // of what slow steps took longer
constexpr double kWorthTelling = 0.01;   // of the time of all steps

using Calls = std::vector<GpuCall>;

bool is_token(const GpuCall& call) {
    return call.kind == GpuCallKind::submit || call.kind == GpuCallKind::wait;
}

// Copies and waits of the thread that has most of them from `from_ns` on.
Calls tokens_of(const Calls& calls, uint64_t from_ns) {
    std::map<uint32_t, size_t> by_thread;
    for (const GpuCall& call : calls)
        by_thread[call.tid] += is_token(call) && call.time.begin_ns >= from_ns;
    Calls tokens;
    if (by_thread.empty()) return tokens;
    uint32_t tid =
        std::ranges::max_element(by_thread, {}, [](const auto& one) { return one.second; })->first;
    std::ranges::copy_if(calls, std::back_inserter(tokens),
                         [&](const GpuCall& call) { return is_token(call) && call.tid == tid; });
    return tokens;
}

// Where one function is called, and what lies between two of its calls.
struct Pattern {
    bool ends = false;             // the function waits: with it a step ends
    bool waits = false;            // it, or a call between, does
    uint64_t time_ns = 0;          // of all
    std::vector<size_t> at;        // of the tokens: from the first like stretch to behind the last
    std::vector<uint32_t> inside;  // names of the calls in such a stretch
};

std::vector<uint32_t> names_between(const Calls& tokens, size_t from, size_t to) {
    std::vector<uint32_t> names;
    for (size_t i = from + 1; i < to; ++i) names.push_back(tokens[i].name);
    return names;
}

std::optional<Pattern> pattern_at(const Calls& tokens, const std::vector<size_t>& at) {
    if (at.size() < kLeast) return {};
    struct Alike {
        size_t count = 0, first = 0, last = 0;
        uint64_t time_ns = 0;
    };
    std::map<std::vector<uint32_t>, Alike> stretches;
    for (size_t i = 0; i + 1 < at.size(); ++i) {
        auto [found, is_new] = stretches.try_emplace(names_between(tokens, at[i], at[i + 1]));
        Alike& alike = found->second;
        if (is_new) alike.first = i;
        alike.last = i;
        ++alike.count;
        alike.time_ns += tokens[at[i + 1]].time.end_ns - tokens[at[i]].time.end_ns;
    }
    const auto& [inside, most] =
        *std::ranges::max_element(stretches, {}, [](const auto& one) { return one.second.count; });
    uint64_t whole_ns = tokens[at[most.last + 1]].time.end_ns - tokens[at[most.first]].time.end_ns;
    double all = static_cast<double>(most.last - most.first + 1);
    if (most.count + 1 < kLeast || static_cast<double>(most.count) < kLeastAlike * all ||
        static_cast<double>(most.time_ns) < kLeastAlikeTime * static_cast<double>(whole_ns))
        return {};
    auto waits = [](const GpuCall& call) { return call.kind == GpuCallKind::wait; };
    auto begin = tokens.begin() + static_cast<ptrdiff_t>(at[most.first]);
    auto end = tokens.begin() + static_cast<ptrdiff_t>(at[most.first + 1]);
    Pattern pattern{waits(*begin), std::any_of(begin, end, waits), whole_ns, {}, inside};
    pattern.at.assign(at.begin() + static_cast<ptrdiff_t>(most.first),
                      at.begin() + static_cast<ptrdiff_t>(most.last + 2));
    return pattern;
}

// Of those that cover the most time that of the shortest steps; of functions that are called once a
// step, one that waits.
std::optional<Pattern> best_pattern(const Calls& tokens, uint64_t from_ns) {
    std::map<uint32_t, std::vector<size_t>> places;
    const auto from = std::ranges::lower_bound(
        tokens, from_ns, {}, [](const GpuCall& call) { return call.time.begin_ns; });
    for (auto one = from; one != tokens.end(); ++one)
        places[one->name].push_back(static_cast<size_t>(one - tokens.begin()));
    std::vector<Pattern> patterns;
    double covered_ns = 0;
    for (const auto& [name, at] : places) {
        std::optional<Pattern> one = pattern_at(tokens, at);
        if (!one || !one->waits) continue;
        covered_ns = std::max(covered_ns, static_cast<double>(one->time_ns));
        patterns.push_back(std::move(*one));
    }
    if (patterns.empty()) return {};
    const uint64_t work_ns = tokens.back().time.end_ns - from->time.begin_ns;
    if (covered_ns < kLeastOfWork * static_cast<double>(work_ns)) return {};
    std::erase_if(patterns, [&](const Pattern& one) {
        return static_cast<double>(one.time_ns) < kAsMuch * covered_ns;
    });
    return *std::ranges::max_element(patterns, {}, [](const Pattern& one) {
        return static_cast<double>(one.at.size()) * (one.ends ? 1.1 : 1);
    });
}

// Each step begins with the first call behind the wait that ended the one before; without one, the
// wait itself says nothing of where it began, and it begins there.
std::vector<TimeRange> steps_by_wait(const Calls& tokens, const Pattern& pattern) {
    std::vector<TimeRange> steps;
    for (size_t i = 1; i < pattern.at.size(); ++i) {
        size_t before = pattern.at[i - 1];
        const TimeRange& next = tokens[before + 1].time;
        bool is_wait = before + 1 == pattern.at[i];
        steps.push_back({is_wait ? tokens[before].time.end_ns : next.begin_ns, 0});
        if (i > 1) steps[i - 2].end_ns = steps[i - 1].begin_ns;
    }
    steps.back().end_ns = tokens[pattern.at.back()].time.end_ns;
    return steps;
}

// The step that ends with the first wait: from the calls before it that are those of a step; else
// it takes as long as others do, but for what came before it.
TimeRange first_by_wait(const Calls& calls, const Calls& tokens, const Pattern& pattern,
                        const TimeRange& next, uint64_t median_ns) {
    size_t wait = pattern.at.front(), first = wait;
    for (auto name = pattern.inside.rbegin(); name != pattern.inside.rend() && first > 0; ++name) {
        if (tokens[first - 1].name != *name) break;
        --first;
    }
    uint64_t end_ns = tokens[wait].time.end_ns;
    if (first < wait) return {tokens[first].time.begin_ns, next.begin_ns};
    uint64_t begin_ns = end_ns - std::min(end_ns, median_ns);
    for (const GpuCall& call : calls) {
        if (call.time.end_ns < tokens[wait].time.begin_ns && call.kind != GpuCallKind::launch)
            begin_ns = std::max(begin_ns, call.time.end_ns);
    }
    return {std::min(begin_ns, tokens[wait].time.begin_ns), next.begin_ns};
}

std::vector<TimeRange> steps_by_submit(const Calls& tokens, const Pattern& pattern) {
    std::vector<TimeRange> steps;
    for (size_t at : pattern.at) {
        uint64_t begin_ns = tokens[at].time.begin_ns;
        if (!steps.empty()) steps.back().end_ns = begin_ns;
        steps.push_back({begin_ns, tokens[at].time.end_ns});
    }
    size_t last = pattern.at.back();
    for (uint32_t name : pattern.inside) {
        if (last + 1 >= tokens.size() || tokens[last + 1].name != name) break;
        steps.back().end_ns = tokens[++last].time.end_ns;
    }
    return steps;
}

size_t first_run(const Calls& calls, const std::vector<TimeRange>& steps) {
    uint64_t slow_ns = 2 * median_length_ns(steps);
    size_t first = 0;
    auto loads = [&](const TimeRange& step) {
        return std::ranges::any_of(calls, [&](const GpuCall& call) {
            return call.kind == GpuCallKind::load && step.begin_ns <= call.time.begin_ns &&
                   call.time.begin_ns < step.end_ns;
        });
    };
    while (first + kLeast < steps.size() && steps[first].length_ns() >= slow_ns &&
           loads(steps[first]))
        ++first;
    return first;
}

}  // namespace

std::optional<GpuSteps> find_steps(const std::vector<GpuCall>& calls, uint64_t from_ns) {
    Calls tokens = tokens_of(calls, from_ns);
    std::optional<Pattern> pattern = best_pattern(tokens, from_ns);
    if (!pattern) return {};
    GpuSteps found;
    found.calls = pattern->inside;
    uint32_t name = tokens[pattern->at.front()].name;
    if (pattern->ends) {
        found.steps = steps_by_wait(tokens, *pattern);
        TimeRange first = first_by_wait(calls, tokens, *pattern, found.steps.front(),
                                        median_length_ns(found.steps));
        found.steps.insert(found.steps.begin(), first);
        found.calls.push_back(name);
    } else {
        found.steps = steps_by_submit(tokens, *pattern);
        found.calls.insert(found.calls.begin(), name);
    }
    found.first = first_run(calls, found.steps);
    return found;
}

StepTimes times_of(const std::vector<TimeRange>& steps) {
    StepTimes times;
    if (steps.empty()) return times;
    times.median_ns = median_length_ns(steps);
    times.longest_ns = std::ranges::max(steps, {}, &TimeRange::length_ns).length_ns();
    auto longer = [&](const SlowStep& step) {
        return static_cast<double>(step.time.length_ns() - times.median_ns);
    };
    std::vector<SlowStep> slow;
    double longer_ns = 0, told_ns = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
        if (static_cast<double>(steps[i].length_ns()) <
            kSlow * static_cast<double>(times.median_ns))
            continue;
        slow.push_back({i, steps[i]});
        longer_ns += longer(slow.back());
    }
    const auto whole_ns = static_cast<double>(steps.back().end_ns - steps.front().begin_ns);
    if (longer_ns < kWorthTelling * whole_ns) return times;
    std::ranges::stable_sort(slow, std::ranges::greater{},
                             [](const SlowStep& step) { return step.time.length_ns(); });
    for (const SlowStep& step : slow) {
        const bool like_the_last =
            !times.slow.empty() && 2 * longer(step) >= longer(times.slow.back());
        if (told_ns >= kTold * longer_ns && !like_the_last) break;
        told_ns += longer(step);
        times.slow.push_back(step);
    }
    return times;
}

}  // namespace mlbcc::phases
