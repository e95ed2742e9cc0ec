#include "profile/time_shares.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

namespace mlbcc::profile {
namespace {

struct Row {
    std::string_view reason;
    Bound bound;
};
// Reasons that a rule of somebody's own adds say nothing here.
constexpr Row kRows[] = {
    {"disk", Bound::io},         {"pipe", Bound::io},          {"lock", Bound::lock},
    {"network", Bound::network}, {"poll", Bound::network},     {"sleep", Bound::sleep},
    {"device", Bound::device},   {"to_run", Bound::scheduler},
};

std::map<Bound, uint64_t> times_of(const TimeShares& shares) {
    std::map<Bound, uint64_t> times{{Bound::compute, shares.on_cpu_ns}};
    for (const Row& row : kRows) {
        auto found = shares.off_cpu_ns.find(std::string(row.reason));
        if (found != shares.off_cpu_ns.end()) times[row.bound] += found->second;
    }
    return times;
}

std::string_view words_for(Bound bound) {
    switch (bound) {
    case Bound::nothing: return "doing nothing that is known";
    case Bound::compute: return "on the CPU";
    case Bound::io: return "waiting for disks and pipes";
    case Bound::lock: return "waiting for locks";
    case Bound::network: return "waiting for the network";
    case Bound::sleep: return "sleeping";
    case Bound::device: return "waiting for a device";
    case Bound::scheduler: return "waiting for a CPU";
    }
    return "";
}

Classification classify(const TimeShares& shares, ThreadId thread) {
    constexpr double kMost = 0.5;
    std::map<Bound, uint64_t> times = times_of(shares);
    auto most = std::ranges::max_element(times, {}, [](const auto& one) { return one.second; });
    double share = shares.share_of(most->second);
    Bound bound = share >= kMost ? most->first : Bound::nothing;
    return {bound,
            fmt::format("thread {} of process {}, which used the most CPU time, spent {:.1f} % of "
                        "its {:.3f} s {}",
                        thread.second, thread.first, 100 * share,
                        static_cast<double>(shares.thread_ns) / 1e9, words_for(most->first))};
}

}  // namespace

// Off the CPU before the life that is counted, as in the tracer's own start, may be more than it.
void add_thread(TimeShares& shares, uint64_t life_ns,
                const std::map<std::string, uint64_t>& reasons_ns) {
    ++shares.threads;
    shares.thread_ns += life_ns;
    uint64_t left = life_ns;
    for (const auto& [reason, ns] : reasons_ns) {
        uint64_t taken = std::min(left, ns);
        if (taken > 0) shares.off_cpu_ns[reason] += taken;
        left -= taken;
    }
    shares.on_cpu_ns += left;
}

double TimeShares::share_of(uint64_t ns) const {
    return thread_ns == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(thread_ns);
}

std::string_view name_of(Bound bound) {
    switch (bound) {
    case Bound::nothing: return "mixed";
    case Bound::compute: return "compute_bound";
    case Bound::io: return "io_bound";
    case Bound::lock: return "waiting_on_locks";
    case Bound::network: return "network_bound";
    case Bound::sleep: return "sleeping";
    case Bound::device: return "waiting_for_device";
    case Bound::scheduler: return "waiting_to_run";
    }
    return "";
}

void bound_cpu_time(std::vector<ProcessLife>& lives, const OffCpuReport& off_cpu) {
    for (ProcessLife& life : lives) {
        for (ThreadLife& thread : life.threads) {
            uint64_t most = thread.end_ns - std::min(thread.begin_ns, thread.end_ns);
            auto found = off_cpu.threads.find({life.pid, thread.tid});
            if (thread.is_older && !thread.shares_number && found != off_cpu.threads.end())
                most -= std::min(most, found->second.time.total_ns);
            if (thread.cpu_ns <= most) continue;
            life.cpu_ns -= thread.cpu_ns - most;
            thread.cpu_ns = most;
        }
    }
}

std::set<ThreadId> mark_idle(std::vector<ProcessLife>& lives, const OffCpuReport& off_cpu) {
    std::set<ThreadId> idle;
    for (ProcessLife& life : lives) {
        for (ThreadLife& thread : life.threads) {
            const ThreadId id{life.pid, thread.tid};
            auto found = off_cpu.threads.find(id);
            if (thread.tid == life.pid || thread.shares_number || found == off_cpu.threads.end())
                continue;
            const uint64_t life_ns = thread.end_ns - std::min(thread.begin_ns, thread.end_ns);
            const uint64_t most_of_it = life_ns / 10 * 9;
            uint64_t for_work = 0;  // how long it waited to be given some
            for (const char* reason : {"lock", "poll"}) {
                auto waited = found->second.reasons_ns.find(reason);
                if (waited != found->second.reasons_ns.end()) for_work += waited->second;
            }
            // Some turn round for a tenth of a second before they sleep, others look up now and
            // then.
            const bool slept = found->second.time.max_ns >= most_of_it && for_work >= most_of_it &&
                               thread.cpu_ns <= life_ns / 20;
            const bool looked_up = for_work >= life_ns / 100 * 99 && thread.cpu_ns <= life_ns / 100;
            const bool was_there = thread.end_ns + life.duration_ns() / 10 >= life.end_ns;
            thread.idle = (slept || looked_up) && was_there;
            if (thread.idle) idle.insert(id);
        }
    }
    return idle;
}

TimeReport time_report(const std::vector<ProcessLife>& lives, const OffCpuReport& off_cpu) {
    TimeReport report;
    const ThreadLife* busiest = nullptr;
    for (const ProcessLife& life : lives) {
        for (const ThreadLife& thread : life.threads) {
            if (thread.shares_number) {
                ++report.shared_numbers;
                continue;
            }
            auto found = off_cpu.threads.find({life.pid, thread.tid});
            std::map<std::string, uint64_t> off;
            if (found != off_cpu.threads.end()) off = found->second.reasons_ns;
            uint64_t life_ns = thread.end_ns - std::min(thread.begin_ns, thread.end_ns);
            if (thread.idle) {
                add_thread(report.idle, life_ns, off);
                continue;
            }
            add_thread(report.whole, life_ns, off);
            add_thread(report.processes[life.pid], life_ns, off);
            if (busiest != nullptr && busiest->cpu_ns >= thread.cpu_ns) continue;
            busiest = &thread;
            TimeShares shares;
            add_thread(shares, life_ns, off);
            report.classification = classify(shares, {life.pid, thread.tid});
        }
    }
    return report;
}

void add_members(JsonWriter& json, const TimeShares& shares) {
    member(json, "threads", shares.threads);
    member(json, "thread_time_ns", shares.thread_ns);
    member(json, "on_cpu_ns", shares.on_cpu_ns);
    member(json, "off_cpu_ns", shares.off_cpu_ns);
}

void add_members(JsonWriter& json, const TimeReport& time) {
    member(json, "classification", name_of(time.classification.bound));
    member(json, "evidence", time.classification.evidence);
    member(json, "whole", time.whole);
    member(json, "idle", time.idle);
    member(json, "shared_numbers", time.shared_numbers);
    json.Key("processes");
    json.StartObject();
    for (const auto& [pid, shares] : time.processes)
        member(json, std::to_string(pid).c_str(), shares);
    json.EndObject();
}

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

void add_rows(sink::Rows& rows, const TimeReport& time) {
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
