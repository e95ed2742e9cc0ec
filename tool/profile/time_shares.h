// Where the time of threads went: on the CPU, or off it for a reason. Of each thread that ended
// while the trace ran, life = on the CPU + all reasons; a thread that outlived the trace is left
// out, for what it waits for at the end is not known.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profile/off_cpu.h"
#include "profile/process_tree.h"
#include "profile/section.h"

namespace mlbcc::profile {

struct TimeShares {
    uint64_t threads = 0, thread_ns = 0;  // their lives added up: the sum of what follows
    uint64_t on_cpu_ns = 0;
    std::map<std::string, uint64_t> off_cpu_ns;  // by reason

    double share_of(uint64_t ns) const;
};

// What a job was doing most of the time: of the thread with the most CPU time, since others may be
// workers that have nothing to do.
enum class Bound { nothing, compute, io, lock, network, sleep, device, scheduler };
std::string_view name_of(Bound bound);

struct Classification {
    Bound bound{};
    std::string evidence;  // a sentence
};

struct TimeReport {
    TimeShares whole;  // these two: of threads that are not idle
    std::map<uint32_t, TimeShares> processes;
    TimeShares idle;
    uint64_t shared_numbers = 0;  // threads left out: which of them waited is not known
    Classification classification;
};

// A thread, or what lies of its life in some stretch of time; what it waited is at most that.
void add_thread(TimeShares& shares, uint64_t life_ns,
                const std::map<std::string, uint64_t>& reasons_ns);

// Marks the threads that are idle, as pools of libraries have them: no main threads, there until
// the process ends, 90 % of their lives or more in one wait for a lock or in a poll and 5 % at most
// on the CPU; or 99 % in many, and 1 %.
// No thread runs for longer than it lives: the kernel's account of its beginning lags by some
// milliseconds. Of one that is older than the trace it is that of all its life: in the trace it ran
// when it was not off the CPU.
void bound_cpu_time(std::vector<ProcessLife>& lives, const OffCpuReport& off_cpu);
std::set<ThreadId> mark_idle(std::vector<ProcessLife>& lives, const OffCpuReport& off_cpu);

TimeReport time_report(const std::vector<ProcessLife>& lives, const OffCpuReport& off_cpu);

// "on CPU 62.1 %, disk 30.0 %, to_run 7.9 %"
std::string shares_text(const TimeShares& shares);
void add_rows(sink::Rows& rows, const TimeReport& time);
void add_members(JsonWriter& json, const TimeShares& shares);
void add_members(JsonWriter& json, const TimeReport& time);

}  // namespace mlbcc::profile
