// /proc as plain data: what a process is called, what it has mapped, which processes and threads
// belong to it. Process ids are those of the pid namespace that /proc was mounted in.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process_maps.h"
#include "base/result.h"

namespace mlbcc::process {

Result<std::vector<Mapping>> read_maps(int pid);

Result<std::vector<int>>
threads_of(int pid);                       // thread ids, ascending, the process's own among them
Result<std::vector<int>> all_processes();  // ascending
// Children, their children and so on, parents before their children; not `pid` itself.
std::vector<int> descendants_of(int pid);

std::optional<std::string> comm_of(int pid);  // "python3"
std::optional<int> parent_of(int pid);
bool is_alive(int pid);                  // some thread of it runs: not a zombie
std::optional<int> process_of(int tid);  // the process that a thread belongs to
// CPU time of all its threads, ended ones too, and of children that it has waited for (of these in
// ticks of 10 ms), nanoseconds. None where there is no such process any more.
std::optional<uint64_t> cpu_time_of(int pid);

// A thread that does not run, nor waits to run.
struct SleepingThread {
    std::string comm;
    char state = '?';      // as in /proc/PID/stat: S, D, T, t
    int system_call = -1;  // its number; -1: it is in none, or it cannot be read which
    std::array<uint64_t, 6> arguments{};
    uint32_t file = 0;  // what the first argument is open on, S_IFMT of stat(2); 0: nothing
};
std::optional<SleepingThread> sleeping_thread(int pid, int tid);

std::string cpu_model();  // of the first CPU; "" where the kernel has no name for it

// What our time namespace adds to CLOCK_MONOTONIC: of the text of /proc/self/timens_offsets,
// seconds and nanoseconds, `monotonic  86400  0`.
int64_t clock_offset_ns(std::string_view text);
int64_t own_clock_offset_ns();  // 0 where there are no such namespaces

// What bpf_get_ns_current_pid_tgid() wants to know of the namespace our process ids are in.
struct PidNamespace {
    uint64_t device = 0, inode = 0;  // st_dev and st_ino of /proc/self/ns/pid
    bool is_initial = false;         // the kernel's first one: ids need no translation
};
Result<PidNamespace> own_pid_namespace();

}  // namespace mlbcc::process
