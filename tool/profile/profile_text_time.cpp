#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "profile/profile_sections.h"
#include "sink/format.h"
#include "sink/frames.h"

namespace mlbcc::profile {

namespace {

constexpr size_t kShownCalls = 10, kShownThreads = 5, kShownWaits = 5;

std::string errors_of(uint64_t errors) {
    return errors == 0 ? "" : fmt::format(", {} failed", sink::grouped(errors));
}

template <class T>
void add_call(sink::Rows& rows, size_t indent, const std::string& name, const T& use) {
    rows.add(indent, name, {sink::grouped(use.calls), ""},
             fmt::format(" {}, {}{}", use.calls == 1 ? "call" : "calls",
                         sink::short_duration(use.time_ns), errors_of(use.errors)));
}

// Of processes that had the same number, all.
std::string names_of(const Profile& profile, uint32_t pid) {
    std::string names;
    for (const ProcessLife& life : profile.processes) {
        if (life.pid == pid) names += (names.empty() ? "" : ", ") + life.name;
    }
    return names;
}

// "4 times, 1.2 s, longest 400 ms: read+0x10 < app.py:step < app.py:main < ..."
void add_wait(sink::Rows& rows, const LongWait& wait) {
    std::string stack = sink::short_stack(wait.stack);
    rows.line(fmt::format("    {}{}, {}, longest {}: {}", sink::plural(wait.waits, "time"),
                          wait.threads.size() > 1
                              ? fmt::format(" in {}", sink::plural(wait.threads.size(), "thread"))
                              : "",
                          sink::short_duration(wait.total_ns), sink::short_duration(wait.max_ns),
                          stack.empty() ? "the stack could not be read" : stack));
}

void add_long_waits(sink::Rows& rows, const Profile& profile) {
    std::set<uint32_t> idle;
    for (const ThreadId& id : profile.off_cpu.idle) idle.insert(id.second);
    size_t shown = 0;
    for (const LongWait& wait : profile.long_waits.waits) {
        if (shown == kShownWaits) return;
        if (std::ranges::includes(idle, wait.threads)) continue;
        if (shown++ == 0) rows.line("  long waits, by where:");
        add_wait(rows, wait);
    }
}

}  // namespace

std::string shares_text(const TimeShares& shares) {
    std::vector<std::pair<uint64_t, std::string>> parts;
    for (const auto& [reason, ns] : shares.off_cpu_ns) parts.emplace_back(ns, reason);
    std::ranges::stable_sort(parts, std::greater{}, &std::pair<uint64_t, std::string>::first);
    parts.emplace(parts.begin(), shares.on_cpu_ns, "on CPU");
    std::string text;
    for (const auto& [ns, name] : parts) {
        text +=
            fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", name, 100 * shares.share_of(ns));
    }
    return text;
}

void add_calls(sink::Rows& rows, const Profile& profile) {
    const CallReport& calls = profile.calls;
    if (calls.calls == 0) return;
    for (const CategoryUse& use : calls.categories) {
        if (use.calls > 0) add_call(rows, 2, use.category, use);
    }
    for (size_t i = 0; i < std::min(kShownCalls, calls.all.size()); ++i) {
        add_call(rows, 4, calls.all[i].name, calls.all[i]);
    }
}

void add_off_cpu(sink::Rows& rows, const Profile& profile) {
    const OffCpuReport& off = profile.off_cpu;
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
        rows.line(fmt::format("    {}:{} {} {} ({:.1f} %): {}", pid, tid, names_of(profile, pid),
                              sink::short_duration(thread.time.total_ns),
                              100.0 * static_cast<double>(thread.time.total_ns) /
                                  static_cast<double>(time.total_ns),
                              reasons));
    }
    add_long_waits(rows, profile);
}

void add_gpu(sink::Rows& rows, const Profile& profile) {
    const GpuReport& gpu = profile.gpu;
    if (gpu.calls.calls > 0) add_call(rows, 2, "calls of the driver", gpu.calls);
    for (size_t i = 0; i < std::min(kShownCalls, gpu.calls.all.size()); ++i)
        add_call(rows, 4, gpu.calls.all[i].name, gpu.calls.all[i]);
    for (const GpuLedger& one : gpu.ledgers) {
        rows.line(fmt::format(
            "  memory of device {}, process {}: most at once {}, after {} in {}; {} at the end",
            one.device.empty() ? "?" : one.device, one.pid, sink::short_bytes(one.peak_bytes),
            sink::short_duration(one.peak_ns), one.peak_function,
            sink::short_bytes(one.held_bytes)));
    }
}

void add_memory(sink::Rows& rows, const Profile& profile) {
    const MemoryReport& memory = profile.memory;
    if (memory.samples.empty()) return;
    rows.line(fmt::format("  most at once: {}, after {}; page faults: {}, {} of them from disk",
                          sink::short_bytes(memory.peak_resident),
                          sink::short_duration(memory.peak_ns),
                          sink::grouped(memory.minor_faults + memory.major_faults),
                          sink::grouped(memory.major_faults)));
}

void add_time(sink::Rows& rows, const Profile& profile) {
    const TimeReport& time = profile.time;
    if (time.idle.threads > 0) {
        rows.line(fmt::format(
            "  {} idle: asleep from the beginning to the end; what follows is of the others",
            time.idle.threads == 1 ? "1 thread was"
                                   : fmt::format("{} threads were", time.idle.threads)));
    }
    if (time.shared_numbers > 0) {
        rows.line(fmt::format(
            "  {} left out: their thread ids were reused, so it is not known which of them waited",
            sink::plural(time.shared_numbers, "thread")));
    }
    if (time.whole.thread_ns == 0) return;
    rows.line(fmt::format("  {} of {}: {}", sink::short_duration(time.whole.thread_ns),
                          sink::plural(time.whole.threads, "thread"), shares_text(time.whole)));
    if (time.processes.size() > 1) {
        for (const auto& [pid, shares] : time.processes) {
            rows.line(fmt::format("    {}: {}", pid, shares_text(shares)));
        }
    }
    rows.line(
        fmt::format("  {}: {}", name_of(time.classification.bound), time.classification.evidence));
}

}  // namespace mlbcc::profile
