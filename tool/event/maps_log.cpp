#include "event/maps_log.h"

#include <algorithm>

#include <fmt/format.h>

namespace mlbcc::event {

namespace {

constexpr std::string_view kNoName = "//anon";  // of memory in PERF_RECORD_MMAP2

}  // namespace

std::vector<SeenMapping>& MapsLog::process(uint32_t pid) {
    auto [found, is_new] = processes_.try_emplace(pid);
    if (!is_new) return found->second;
    order_.push_back(pid);
    if (order_.size() > kMaxProcesses) {
        processes_.erase(order_.front());
        order_.pop_front();
    }
    return processes_[pid];
}

void MapsLog::mapped(SeenMapping mapping) {
    std::vector<SeenMapping>& known = process(mapping.pid);
    uint64_t end = mapping.start + mapping.size;
    std::erase_if(known, [&](const SeenMapping& old) {  // it takes their place
        return old.start < end && mapping.start < old.start + old.size;
    });
    if (known.size() < kMaxMappings) known.push_back(std::move(mapping));
}

void MapsLog::forked(uint32_t parent, uint32_t child) {
    auto found = processes_.find(parent);
    if (found == processes_.end()) return;
    std::vector<SeenMapping> inherited = found->second;
    std::vector<SeenMapping>& mine = process(child);
    if (mine.empty()) mine = std::move(inherited);
}

std::string MapsLog::text(uint32_t pid) const {
    auto found = processes_.find(pid);
    if (found == processes_.end()) return {};
    std::vector<SeenMapping> sorted = found->second;
    std::ranges::sort(sorted, {}, &SeenMapping::start);
    std::string out;
    for (const SeenMapping& one : sorted) {
        out += fmt::format("{:x}-{:x} r-xp {:08x} {:02x}:{:02x} {} {}\n", one.start,
                           one.start + one.size, one.offset, one.device_major, one.device_minor,
                           one.inode, one.path == kNoName ? "" : one.path);
    }
    return out;
}

}  // namespace mlbcc::event
