// A process looked at from outside: the fields that rules on `interval:` name, read from /proc.
//
//   /proc/70/stat  "70 (python3) S 1 70 ..."   ->  resident 67108864, threads 4, ...
//
// Only what is asked for is read, but for /proc/PID/stat: it says whose the process id is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/process_counters.h"
#include "target/target.h"

namespace mlbcc::process {

struct ProcessState {
    std::string comm;
    uint32_t parent = 0, cpu = 0;  // where its first thread ran last, or one that goes on
    uint64_t started = 0;          // ticks since boot: tells processes of one id apart
    std::array<int64_t, target::kProcessFieldCount> fields{};  // bytes, nanoseconds
    uint64_t unread = 0;  // bit i: fields[i] could not be read, or is not kept by this kernel
};

class ProcessReader {
public:
    explicit ProcessReader(std::string proc = "/proc");
    // Bit i of `wanted`: field i is. None where there is no such process any more, where it is
    // ending (its memory reads as 0 then), or where it is one of the kernel's own, which have no
    // memory and no files.
    std::optional<ProcessState> read(int pid, uint64_t wanted);
    // What was kept of other processes goes. `pids` are sorted.
    void keep_only(const std::vector<int>& pids) { counters_.keep_only(pids); }

private:
    bool read_stat(int pid, uint64_t wanted, ProcessState& state);
    void read_lines(const std::string& path, target::ProcessSource source, uint64_t wanted,
                    ProcessState& state);
    void read_tasks(int pid, uint64_t wanted, ProcessState& state);
    void read_clock(int pid, uint64_t wanted, ProcessState& state) const;
    void read_counters(int pid, uint64_t wanted, ProcessState& state);
    void read_descriptors(int pid, uint64_t wanted, ProcessState& state) const;
    std::optional<std::string_view> text_of(const std::string& path);
    int64_t scaled(uint64_t value, target::ProcessUnit unit) const;

    std::string proc_;
    uint64_t page_bytes_, tick_ns_;
    bool counts_files_;  // the size of /proc/PID/fd is how many there are: Linux 6.2
    std::array<char, 8192> buffer_{};
    ProcessCounters counters_;
};

}  // namespace mlbcc::process
