#include "profile/off_cpu.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "profile/keyed_sums.h"

namespace mlbcc::profile {
namespace {

constexpr std::string_view kTime = "off the CPU", kReason = "off the CPU: ", kOther = "other";
constexpr size_t kShownLongest = 10;

std::optional<uint32_t> number_in(const sink::Group& by, std::string_view name) {
    std::string text = key_text(by, name);
    uint32_t number = 0;
    auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc{} || text.empty()) return {};
    return number;
}

std::optional<ThreadId> thread_of(const sink::Group& by) {
    auto pid = number_in(by, "pid"), tid = number_in(by, "tid");
    if (!pid || !tid) return {};
    return ThreadId{*pid, *tid};
}

void name_the_rest(ThreadOffCpu& thread) {
    uint64_t named = 0;
    for (const auto& [reason, ns] : thread.reasons_ns) named += ns;
    if (named < thread.time.total_ns)
        thread.reasons_ns[std::string(kOther)] += thread.time.total_ns - named;
}

constexpr size_t kShownThreads = 5;

}  // namespace

void OffCpuTime::add(const OffCpuTime& other) {
    if (other.events == 0) return;
    min_ns = events == 0 ? other.min_ns : std::min(min_ns, other.min_ns);
    max_ns = std::max(max_ns, other.max_ns);
    total_ns += other.total_ns;
    events += other.events;
}

std::optional<ThreadId> waiting_thread(const sink::Hist& hist) {
    return hist.label == kTime ? thread_of(hist.by) : std::nullopt;
}

std::optional<std::pair<ThreadId, std::string>> wait_of(const sink::Stat& stat) {
    std::optional<ThreadId> thread = thread_of(stat.by);
    if (!stat.label.starts_with(kReason) || !thread || stat.value == 0) return {};
    return std::pair(*thread, stat.label.substr(kReason.size()));
}

OffCpuReport off_cpu_report(const sink::MetricSnapshot& metrics) {
    OffCpuReport report;
    for (const sink::Hist& hist : metrics.hists) {
        std::optional<ThreadId> thread = waiting_thread(hist);
        if (!thread) continue;
        report.threads[*thread].time.add({hist.sum, hist.count, hist.min, hist.max});
    }
    for (const sink::Stat& stat : metrics.stats) {
        auto wait = wait_of(stat);
        if (wait) report.threads[wait->first].reasons_ns[wait->second] += stat.value;
    }
    for (auto& [id, thread] : report.threads) {
        name_the_rest(thread);
        report.time.add(thread.time);
        for (const auto& [reason, ns] : thread.reasons_ns) report.reasons_ns[reason] += ns;
    }
    leave_out({}, report);
    return report;
}

void leave_out(std::set<ThreadId> idle, OffCpuReport& report) {
    report.idle = std::move(idle);
    report.working = {};
    report.longest.clear();
    for (const auto& [id, thread] : report.threads) {
        if (report.idle.contains(id)) continue;
        report.working.add(thread.time);
        report.longest.push_back(id);
    }
    std::ranges::stable_sort(report.longest, [&](const ThreadId& a, const ThreadId& b) {
        return report.threads[a].time.total_ns > report.threads[b].time.total_ns;
    });
    if (report.longest.size() > kShownLongest) report.longest.resize(kShownLongest);
}

static void add_members(JsonWriter& json, const OffCpuTime& time) {
    member(json, "total_time_ns", time.total_ns);
    member(json, "total_events", time.events);
    member(json, "avg_time_ns", time.average_ns());
    member(json, "max_time_ns", time.max_ns);
    member(json, "min_time_ns", time.min_ns);
}

static void add_members(JsonWriter& json, const ThreadOffCpu& thread) {
    add_members(json, thread.time);
    member(json, "reasons_ns", thread.reasons_ns);
}

static void add_longest(JsonWriter& json, const OffCpuReport& off) {
    json.Key("top_blocking_threads");
    json.StartArray();
    for (const ThreadId& id : off.longest) {
        uint64_t ns = off.threads.at(id).time.total_ns;
        json.StartObject();
        member(json, "pid", id.first);
        member(json, "tid", id.second);
        member(json, "time_ms", static_cast<double>(ns) / 1e6);
        member(json, "percentage",
               100 * static_cast<double>(ns) / static_cast<double>(off.working.total_ns));
        json.EndObject();
    }
    json.EndArray();
}

void add_members(JsonWriter& json, const OffCpuReport& off) {
    add_members(json, off.time);
    member(json, "reasons_ns", off.reasons_ns);
    add_longest(json, off);
    json.Key("thread_stats");
    json.StartObject();
    for (const auto& [id, thread] : off.threads) {
        member(json, fmt::format("{}:{}", id.first, id.second).c_str(), thread);
    }
    json.EndObject();
    member(json, "long_waits", off.long_waits.waits);
    member(json, "long_waits_left_out", off.long_waits.left_out);
}

// Of processes that had the same number, all.
static std::string names_of(const std::vector<ProcessLife>& lives, uint32_t pid) {
    std::string names;
    for (const ProcessLife& life : lives) {
        if (life.pid == pid) names += (names.empty() ? "" : ", ") + life.name;
    }
    return names;
}

void add_rows(sink::Rows& rows, const OffCpuReport& off, const std::vector<ProcessLife>& lives) {
    const OffCpuTime& time = off.working;
    if (time.events == 0) return;
    rows.line(fmt::format("  {} in {}: average {}, longest {}", sink::short_duration(time.total_ns),
                          sink::plural(time.events, "time"),
                          sink::short_duration(time.average_ns()),
                          sink::short_duration(time.max_ns)));
    for (size_t i = 0; i < std::min(kShownThreads, off.longest.size()); ++i) {
        const auto& [pid, tid] = off.longest[i];
        const ThreadOffCpu& thread = off.threads.at(off.longest[i]);
        std::string reasons;
        for (const auto& [reason, ns] : thread.reasons_ns) {
            reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", reason,
                                   sink::short_duration(ns));
        }
        rows.line(fmt::format("    {}:{} {} {} ({:.1f} %): {}", pid, tid, names_of(lives, pid),
                              sink::short_duration(thread.time.total_ns),
                              100.0 * static_cast<double>(thread.time.total_ns) /
                                  static_cast<double>(time.total_ns),
                              reasons));
    }
    std::set<uint32_t> idle;
    for (const ThreadId& id : off.idle) idle.insert(id.second);
    add_rows(rows, off.long_waits, idle);
}

}  // namespace mlbcc::profile
