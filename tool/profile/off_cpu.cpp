#include "profile/off_cpu.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

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

}  // namespace mlbcc::profile
