// What processes were seen to map while they lived: the kernel tells of each executable mapping in
// the rings (PERF_RECORD_MMAP2). For those that are gone before their stacks are looked at, and for
// addresses where one library lay after another.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/mappings.h"

namespace mlbcc::symbols {

struct SeenMapping {
    uint32_t pid = 0;
    uint64_t start = 0, size = 0, offset = 0;  // bytes
    uint32_t device_major = 0, device_minor = 0;
    uint64_t inode = 0;
    std::string path;
    uint64_t time_ns = 0;  // CLOCK_MONOTONIC
};

class MapsLog {
public:
    static constexpr size_t kMaxProcesses = 512;  // the newest
    static constexpr size_t kMaxMappings = 4096;  // of one process
    static constexpr size_t kMaxReplaced = 64;    // of one process, the newest

    void mapped(SeenMapping mapping);
    void forked(uint32_t parent, uint32_t child);
    // By address, as it was just before `before_ns`; none for a process that was not seen.
    std::vector<CodeMapping> mappings(uint32_t pid, uint64_t before_ns = UINT64_MAX) const;

    // When something else was mapped where something was: the last time up to `time_ns` (0: never),
    // and the first behind it (UINT64_MAX: never).
    struct Replaced {
        uint64_t last = 0, next = UINT64_MAX;
    };
    Replaced replaced(uint32_t pid, uint64_t time_ns) const;

private:
    struct Past {
        SeenMapping mapping;
        uint64_t until_ns = 0;
    };
    struct Process {
        std::vector<SeenMapping> now;
        std::deque<Past> past;  // what was replaced, by until_ns
    };
    Process& process(uint32_t pid);
    static void add_past(Process& process, SeenMapping mapping, uint64_t until_ns);

    std::unordered_map<uint32_t, Process> processes_;
    std::deque<uint32_t> order_;  // of their first mapping
};

}  // namespace mlbcc::symbols
