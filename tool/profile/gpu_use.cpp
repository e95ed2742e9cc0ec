#include "profile/gpu_use.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "profile/keyed_sums.h"

namespace mlbcc::profile {
namespace {

constexpr std::string_view kLedger = "gpu_bytes", kCalls = "gpu calls";

uint64_t natural(int64_t value) {
    return static_cast<uint64_t>(std::max<int64_t>(0, value));
}

uint64_t bytes_at(const std::vector<GpuStep>& steps, uint64_t time_ns) {
    auto after = std::ranges::upper_bound(steps, time_ns, {}, &GpuStep::time_ns);
    return after == steps.begin() ? 0 : (after - 1)->bytes;
}

constexpr size_t kMostSteps = 2000;

}  // namespace

// What a process held is gone with it, whether it gave it back or not.
void GpuUse::add(const saved::EventFields& one) {
    if (one.type != "process") return;
    const bool ends = saved::ends_process(one);
    if (!ends && one.name != "gpu_memory") return;
    uint64_t now = ends ? 0 : one.natural("held"), before = std::exchange(held_[one.pid], now);
    if (now == before) return;
    total_ = total_ - before + now;
    keep(one.time_ns);
}

void GpuUse::add(const sink::Sums& gained) {
    Launches look{{gained.since_ns, gained.time_ns}, 0};
    for (const sink::Stat& stat : gained.stats) {
        if (stat.label != kCalls) continue;
        const std::string function = key_text(stat.by, "function");
        if (function.starts_with("cuLaunch") || function.starts_with("cuGraphLaunch"))
            look.count += stat.calls;
    }
    launches_.push_back(look);
    if (launches_.size() <= most_) return;
    std::vector<Launches> merged;  // two and two
    for (size_t i = 0; i < launches_.size(); ++i) {
        if (i % 2 == 0) {
            merged.push_back(launches_[i]);
            continue;
        }
        merged.back().time.end_ns = launches_[i].time.end_ns;
        merged.back().count += launches_[i].count;
    }
    launches_ = std::move(merged);
}

uint64_t GpuUse::launches_ns() const {
    auto first =
        std::ranges::find_if(launches_, [](const Launches& look) { return look.count > 0; });
    return first == launches_.end() ? 0 : first->time.begin_ns;
}

// What gained nothing is not told: from the first look to the last all is known.
std::optional<double> GpuUse::launches_per_second(const phases::TimeRange& time) const {
    uint64_t count = 0;
    phases::TimeRange known{time.end_ns, time.end_ns};
    for (const Launches& look : launches_) {
        if (look.time.begin_ns < time.begin_ns || look.time.end_ns > time.end_ns) continue;
        count += look.count;
        known = {std::min(known.begin_ns, look.time.begin_ns), look.time.end_ns};
    }
    uint64_t ns = known.end_ns - known.begin_ns;
    if (ns == 0 || ns * 10 < (time.end_ns - time.begin_ns) * 9) return {};
    return static_cast<double>(count) * 1e9 / static_cast<double>(ns);
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

std::optional<GpuMemoryUse> memory_in(const GpuReport& report, const phases::TimeRange& time) {
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

static void add_members(JsonWriter& json, const GpuLedger& ledger) {
    member(json, "pid", ledger.pid);
    member(json, "device", ledger.device);
    member(json, "peak_bytes", ledger.peak_bytes);
    member(json, "peak_ns", ledger.peak_ns);
    member(json, "peak_function", ledger.peak_function);
    member(json, "held_bytes", ledger.held_bytes);
}

static void add_members(JsonWriter& json, const GpuStep& step) {
    member(json, "time_ns", step.time_ns);
    member(json, "bytes", step.bytes);
}

// Of very many steps every second, third, ..., and the last.
static std::vector<GpuStep> shown_of(const std::vector<GpuStep>& steps) {
    const size_t every = steps.size() / kMostSteps + 1;
    std::vector<GpuStep> shown;
    for (size_t i = 0; i < steps.size(); i += every) shown.push_back(steps[i]);
    if (every > 1) shown.push_back(steps.back());
    return shown;
}

void add_members(JsonWriter& json, const GpuReport& gpu) {
    add_members(json, static_cast<const CallCount&>(gpu.calls));
    objects(json, "by_name", gpu.calls.all, [&](const CallUse& use) {
        member(json, "name", use.name);
        add_members(json, static_cast<const CallCount&>(use));
    });
    member(json, "memory", gpu.ledgers);
    member(json, "memory_steps", shown_of(gpu.steps));
}

void add_rows(sink::Rows& rows, const GpuReport& gpu) {
    if (gpu.calls.calls > 0) add_row(rows, 2, "calls of the driver", gpu.calls);
    add_functions(rows, gpu.calls);
    for (const GpuLedger& one : gpu.ledgers) {
        rows.line(fmt::format(
            "  memory of device {}, process {}: most at once {}, after {} in {}; {} at the end",
            one.device.empty() ? "?" : one.device, one.pid, sink::short_bytes(one.peak_bytes),
            sink::short_duration(one.peak_ns), one.peak_function,
            sink::short_bytes(one.held_bytes)));
    }
}

}  // namespace mlbcc::profile
