#include "report/gpu_use.h"

#include <algorithm>
#include <utility>

#include "report/keyed_sums.h"

namespace mlbcc::report {
namespace {

constexpr std::string_view kLedger = "gpu_bytes";

uint64_t natural(int64_t value) {
    return static_cast<uint64_t>(std::max<int64_t>(0, value));
}

uint64_t bytes_at(const std::vector<GpuStep>& steps, uint64_t time_ns) {
    auto after = std::ranges::upper_bound(steps, time_ns, {}, &GpuStep::time_ns);
    return after == steps.begin() ? 0 : (after - 1)->bytes;
}

}  // namespace

// What a process held is gone with it, whether it gave it back or not.
void GpuUse::add(const Happening& one) {
    if (one.type != "process") return;
    const bool ends = one.name == "exit" && one.pid == one.tid;
    if (!ends && one.name != "gpu_memory") return;
    uint64_t now = ends ? 0 : one.natural("held"), before = std::exchange(held_[one.pid], now);
    if (now == before) return;
    total_ = total_ - before + now;
    keep(one.time_ns);
}

// Where there are too many, every other goes; the last always stays.
void GpuUse::keep(uint64_t time_ns) {
    steps_.push_back({time_ns, total_});
    if (steps_.size() <= most_) return;
    size_t kept = 0;
    for (size_t i = (steps_.size() + 1) % 2; i < steps_.size(); i += 2) steps_[kept++] = steps_[i];
    steps_.resize(kept);
}

GpuReport GpuUse::report(const sink::MetricSnapshot& metrics) const {
    GpuReport made;
    made.calls = call_report(metrics, CallsOf::gpu);
    for (const sink::Gauge& gauge : metrics.gauges) {
        if (gauge.name != kLedger || gauge.peak <= 0) continue;
        made.ledgers.push_back({gauge.pid, key_text(gauge.by, "device"), natural(gauge.peak),
                                gauge.at_peak.time_ns, gauge.at_peak.function,
                                natural(gauge.value)});
    }
    std::ranges::stable_sort(made.ledgers, std::ranges::greater{}, &GpuLedger::peak_bytes);
    made.steps = steps_;
    return made;
}

std::optional<GpuMemoryUse> memory_in(const GpuReport& report, const Span& time) {
    if (report.steps.empty() && report.ledgers.empty()) return {};
    const uint64_t before = bytes_at(report.steps, time.begin_ns);
    const uint64_t after = bytes_at(report.steps, time.end_ns);
    GpuMemoryUse use{static_cast<int64_t>(after) - static_cast<int64_t>(before),
                     std::max(before, after)};
    for (const GpuStep& step : report.steps) {
        if (step.time_ns >= time.begin_ns && step.time_ns < time.end_ns)
            use.peak_bytes = std::max(use.peak_bytes, step.bytes);
    }
    for (const GpuLedger& one : report.ledgers) {  // which no look need have seen
        if (one.peak_ns >= time.begin_ns && one.peak_ns < time.end_ns)
            use.peak_bytes = std::max(use.peak_bytes, one.peak_bytes);
    }
    return use;
}

}  // namespace mlbcc::report
