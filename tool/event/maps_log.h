// What processes were seen to map while they lived, for those that are gone before their stacks are
// looked at: the kernel tells of each executable mapping in the rings (PERF_RECORD_MMAP2).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

namespace mlbcc::event {

struct SeenMapping {
    uint32_t pid = 0;
    uint64_t start = 0, size = 0, offset = 0;  // bytes
    uint32_t device_major = 0, device_minor = 0;
    uint64_t inode = 0;
    std::string path;
};

class MapsLog {
public:
    static constexpr size_t kMaxProcesses = 512;  // the newest
    static constexpr size_t kMaxMappings = 4096;  // of one process

    void mapped(SeenMapping mapping);
    void forked(uint32_t parent, uint32_t child);
    // In the form of /proc/PID/maps, by address; "" for a process that was not seen.
    std::string text(uint32_t pid) const;

private:
    std::vector<SeenMapping>& process(uint32_t pid);

    std::unordered_map<uint32_t, std::vector<SeenMapping>> processes_;
    std::deque<uint32_t> order_;  // of their first mapping
};

}  // namespace mlbcc::event
