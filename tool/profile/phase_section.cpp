#include "profile/phase_section.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace mlbcc::profile {

// From the beginning of the trace to the first phase, and from the end of the last, is outside.
static void share_sums(const SumHistory& sums, const std::vector<ProcessLife>& lives,
                       PhaseSection& section) {
    const std::vector<phases::Phase>& all = section.report.phases;
    if (sums.empty() || all.empty()) return;
    std::vector<phases::TimeRange> stretches;
    for (const phases::Phase& phase : all) stretches.push_back(phase.time);
    std::vector<TimedSums> shared = sums.shared(stretches, lives);
    section.outside = std::move(shared.back());
    for (size_t i = 0; i < all.size(); ++i) section.shares[i].sums = std::move(shared[i]);
}

PhaseSection phase_section(phases::PhaseReport report, const SumHistory& sums,
                           const std::vector<ProcessLife>& lives, const GpuUse& gpu_use,
                           const GpuReport& gpu) {
    PhaseSection section;
    section.report = std::move(report);
    section.shares.resize(section.report.phases.size());
    share_sums(sums, lives, section);
    for (size_t i = 0; i < section.shares.size(); ++i)
        section.shares[i].gpu_memory = memory_in(gpu, section.report.phases[i].time);
    if (section.report.steps && section.report.other_steps.empty() && gpu.calls.calls > 0)
        section.launches_per_second = gpu_use.launches_per_second(section.report.steps->time);
    return section;
}

static void add_members(JsonWriter& json, const GpuMemoryUse& use) {
    member(json, "growth_bytes", use.growth_bytes);
    member(json, "peak_bytes", use.peak_bytes);
}

struct Categories {
    const CallTotals& calls;
};
static void add_members(JsonWriter& json, const Categories& of) {
    add_categories(json, of.calls);
}

static void add_sums(JsonWriter& json, const std::optional<TimedSums>& sums) {
    member(json, "system_calls", sums ? std::optional(Categories{sums->calls}) : std::nullopt);
    member(json, "gpu_calls", sums ? std::optional<CallCount>(sums->gpu) : std::nullopt);
    member(json, "off_cpu_ns", sums ? std::optional(sums->off_cpu_ns) : std::nullopt);
    member(json, "time", sums ? std::optional(sums->time) : std::nullopt);
}

static void add_members(JsonWriter& json, const TimedSums& sums) {
    add_sums(json, sums);
}

void add_members(JsonWriter& json, const PhaseSection& section) {
    const phases::PhaseReport& report = section.report;
    member(json, "pid", report.pid);
    json.Key("phases");
    json.StartArray();
    for (size_t i = 0; i < report.phases.size(); ++i) {
        json.StartObject();
        add_members(json, report.phases[i]);
        add_sums(json, section.shares[i].sums);
        member(json, "gpu_memory", section.shares[i].gpu_memory);
        json.EndObject();
    }
    json.EndArray();
    member(json, "repetitions", report.repetitions);
    member(json, "repetition_evidence", report.repetition_evidence);
    member(json, "steps", report.steps);
    member(json, "launches_per_second", section.launches_per_second);
    member(json, "other_steps", report.other_steps);
    member(json, "growth", report.growth);
    member(json, "outside", section.outside);
}

namespace {

constexpr size_t kPhases = 40, kCategories = 4, kSlow = 10, kOthers = 16;

std::string used(const phases::PhaseUse& use) {
    std::string text = fmt::format("{} of CPU time", sink::short_duration(use.cpu_ns));
    if (use.read_bytes > 0) text += fmt::format(", {} read", sink::short_bytes(use.read_bytes));
    if (use.written_bytes > 0)
        text += fmt::format(", {} written", sink::short_bytes(use.written_bytes));
    if (!use.memory_growth_bytes) return text;
    int64_t growth = *use.memory_growth_bytes;
    return text + fmt::format(", memory {}{}", growth < 0 ? "-" : "+",
                              sink::short_bytes(static_cast<uint64_t>(std::abs(growth))));
}

// "1.84 instructions a cycle, 3.10 branch misses in 1000 instructions, ..."
std::string counted(const phases::CpuCounters& counters) {
    std::string text;
    auto add = [&](const std::optional<uint64_t>& part, const std::optional<uint64_t>& of,
                   double scale, int digits, const char* what) {
        if (!part || !of || *of == 0) return;
        text += fmt::format("{}{:.{}f} {}", text.empty() ? "" : ", ",
                            scale * static_cast<double>(*part) / static_cast<double>(*of), digits,
                            what);
    };
    add(counters.instructions, counters.cycles, 1, 2, "instructions a cycle");
    add(counters.branch_misses, counters.instructions, 1000, 2,
        "branch misses in 1000 instructions");
    add(counters.cache_misses, counters.instructions, 1000, 2, "cache misses in 1000 instructions");
    return text;
}

bool has_counters(const phases::PhaseReport& report) {
    return std::ranges::any_of(
        report.phases, [](const phases::Phase& one) { return one.use && one.use->counters; });
}

// "1 234 in 12.1 ms, 30 failed: file_io 1 000, memory 200, ..."
std::string calls_text(const CallTotals& calls) {
    std::string text = fmt::format("{} in {}", sink::plural(calls.calls, "system call"),
                                   sink::short_duration(calls.time_ns));
    if (calls.errors > 0) text += fmt::format(", {} failed", sink::grouped(calls.errors));
    size_t shown = 0;
    for (const CategoryUse& use : calls.categories) {
        if (use.calls == 0 || shown == kCategories) continue;
        text += fmt::format("{}{} {}", shown++ == 0 ? ": " : ", ", use.category,
                            sink::grouped(use.calls));
    }
    return text;
}

void add_sums(sink::Rows& rows, const TimedSums& sums) {
    if (sums.calls.calls > 0) rows.line("    " + calls_text(sums.calls));
    if (sums.time.thread_ns == 0) return;
    rows.line(fmt::format("    {} of threads: {}", sink::short_duration(sums.time.thread_ns),
                          shares_text(sums.time)));
}

void add_gpu_memory(sink::Rows& rows, const PhaseShare& share) {
    const int64_t growth = share.gpu_memory->growth_bytes;
    std::string text = fmt::format("GPU memory {}{}, {} at most", growth < 0 ? "-" : "+",
                                   sink::short_bytes(static_cast<uint64_t>(std::abs(growth))),
                                   sink::short_bytes(share.gpu_memory->peak_bytes));
    if (share.sums && share.sums->gpu.calls > 0) {
        text += fmt::format(", {} in {}", sink::plural(share.sums->gpu.calls, "driver call"),
                            sink::short_duration(share.sums->gpu.time_ns));
    }
    rows.line("    " + text);
}

void add_work(sink::Rows& rows, const phases::PhaseWork& work) {
    std::string text;
    auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (work.python_files > 0)
        add(fmt::format("{} opened", sink::plural(work.python_files, "Python file")));
    if (work.loads.count > 0)
        add(fmt::format("code loaded into the GPU {}, {}", sink::plural(work.loads.count, "time"),
                        sink::short_duration(work.loads.time_ns)));
    if (work.cache_files > 0)
        add(fmt::format("{} of kernel caches opened", sink::plural(work.cache_files, "file")));
    if (!text.empty()) rows.line("    " + text);
}

void add_phase(sink::Rows& rows, const phases::Phase& phase, const PhaseShare& share,
               bool has_peak) {
    rows.line(fmt::format(
        "  {:<10} {} to {}, {}{}{}", phase.name, sink::short_duration(phase.time.begin_ns),
        sink::short_duration(phase.time.end_ns),
        sink::short_duration(phase.time.end_ns - phase.time.begin_ns),
        phase.use ? ": " + used(*phase.use) : "", has_peak ? "; the peak of memory is here" : ""));
    rows.line("    begins: " + phase.begin_evidence);
    add_work(rows, phase.work);
    if (share.sums) add_sums(rows, *share.sums);
    if (phase.use && phase.use->counters) {
        std::string text = counted(*phase.use->counters);
        if (!text.empty()) rows.line("    " + text);
    }
    if (share.gpu_memory) add_gpu_memory(rows, share);
}

std::string rate_text(double per_second) {
    if (per_second >= 1) return fmt::format("{:.1f} a second", per_second);
    return fmt::format("one in {:.3g} s", 1 / per_second);
}

std::string steps_text(const phases::StepReport& steps) {
    return fmt::format("{}, {}: median {}, longest {}", sink::plural(steps.count, "repetition"),
                       rate_text(steps.per_second()), sink::short_duration(steps.times.median_ns),
                       sink::short_duration(steps.times.longest_ns));
}

// In their order, though the longest were found first.
void add_slow(sink::Rows& rows, const phases::StepTimes& times) {
    if (times.slow.empty()) return;
    std::vector<size_t> numbers;
    for (size_t i = 0; i < std::min(kSlow, times.slow.size()); ++i)
        numbers.push_back(times.slow[i].number);
    std::ranges::sort(numbers);
    std::string text;
    for (size_t number : numbers) text += fmt::format("{}{}", text.empty() ? "" : ", ", number);
    size_t more = times.slow.size() - numbers.size();
    if (more > 0) text += fmt::format(" and {} more", more);
    rows.line(fmt::format("    slow ones, counted from 0: {} ({} to {})", text,
                          sink::short_duration(times.slow.back().time.length_ns()),
                          sink::short_duration(times.slow.front().time.length_ns())));
}

void add_steps(sink::Rows& rows, const PhaseSection& section) {
    const phases::PhaseReport& report = section.report;
    if (report.steps) {
        std::string text = steps_text(*report.steps);
        if (section.launches_per_second)
            text += fmt::format("; {:.0f} launches a second", *section.launches_per_second);
        rows.line("    " + text);
        add_slow(rows, report.steps->times);
    }
    for (size_t i = 0; i < std::min(kOthers, report.other_steps.size()); ++i) {
        const phases::StepReport& other = report.other_steps[i];
        rows.line(fmt::format("    process {}, from {} to {}: {}", other.pid,
                              sink::short_duration(other.time.begin_ns),
                              sink::short_duration(other.time.end_ns), steps_text(other)));
        add_slow(rows, other.times);
    }
    if (report.other_steps.size() > kOthers)
        rows.line(fmt::format("    and {} more processes", report.other_steps.size() - kOthers));
}

void add_repetitions(sink::Rows& rows, const PhaseSection& section) {
    const phases::PhaseReport& report = section.report;
    rows.line("  repetitions: " + report.repetition_evidence);
    add_steps(rows, section);
    if (!report.growth) return;
    const phases::MemoryGrowth& growth = *report.growth;
    if (!growth.grows) {
        rows.line(fmt::format("    memory does not grow from one to the next ({} looked at)",
                              growth.repetitions));
        return;
    }
    rows.line(fmt::format("    memory grows by {:.2f} MB a repetition ({} looked at)",
                          growth.bytes_a_repetition / 1e6, growth.repetitions));
}

}  // namespace

void add_rows(sink::Rows& rows, const PhaseSection& section, const MemoryReport& memory) {
    const phases::PhaseReport& report = section.report;
    if (report.phases.empty()) return;
    const phases::Phase* peak = report.at(memory.peak_ns);
    for (size_t i = 0; i < std::min(kPhases, report.phases.size()); ++i) {
        const phases::Phase& phase = report.phases[i];
        add_phase(rows, phase, section.shares[i], &phase == peak && memory.peak_resident > 0);
    }
    if (report.phases.size() > kPhases)
        rows.line(fmt::format("  and {} more", report.phases.size() - kPhases));
    if (!has_counters(report))
        rows.line("  counters of the CPU (instructions a cycle, misses): not available here");
    add_repetitions(rows, section);
}

}  // namespace mlbcc::profile
