#include "symbols/maps_log.h"

#include <algorithm>
#include <tuple>

namespace mlbcc::symbols {
namespace {

constexpr std::string_view kNoName = "//anon";  // of memory in PERF_RECORD_MMAP2

bool overlap(const SeenMapping& a, const SeenMapping& b) {
    return a.start < b.start + b.size && b.start < a.start + a.size;
}

// Of the same file, the same bytes at the same addresses.
bool same_code(const SeenMapping& a, const SeenMapping& b) {
    auto what = [](const SeenMapping& m) {
        return std::tuple(m.device_major, m.device_minor, m.inode, std::string_view(m.path),
                          m.inode == 0 ? 0 : m.start - m.offset);
    };
    return what(a) == what(b);
}

CodeMapping mapping_of(const SeenMapping& seen) {
    CodeMapping mapping;
    mapping.start = seen.start;
    mapping.end = seen.start + seen.size;
    mapping.offset = seen.offset;
    mapping.inode = seen.inode;
    mapping.device_major = seen.device_major;
    mapping.device_minor = seen.device_minor;
    if (seen.path != kNoName) mapping.path = seen.path;
    mapping.executable = true;
    return mapping;
}

}  // namespace

MapsLog::Process& MapsLog::process(uint32_t pid) {
    auto [found, is_new] = processes_.try_emplace(pid);
    if (!is_new) return found->second;
    order_.push_back(pid);
    if (order_.size() > kMaxProcesses) {
        processes_.erase(order_.front());
        order_.pop_front();
    }
    return processes_[pid];
}

void MapsLog::add_past(Process& process, SeenMapping mapping, uint64_t until_ns) {
    auto at = std::ranges::upper_bound(process.past, until_ns, {}, &Past::until_ns);
    process.past.insert(at, {std::move(mapping), until_ns});
    if (process.past.size() > kMaxReplaced) process.past.pop_front();
}

// Mappings come roughly in the order of their time: each CPU has its own ring.
void MapsLog::mapped(SeenMapping mapping) {
    Process& known = process(mapping.pid);
    for (const SeenMapping& other : known.now) {
        bool came_late = other.time_ns > mapping.time_ns && overlap(other, mapping);
        if (came_late && !same_code(other, mapping)) {
            return add_past(known, std::move(mapping), other.time_ns);
        }
    }
    std::vector<SeenMapping> stay;
    for (SeenMapping& old : known.now) {
        if (!overlap(old, mapping)) {
            stay.push_back(std::move(old));
        } else if (same_code(old, mapping)) {
            mapping.time_ns = std::min(mapping.time_ns, old.time_ns);
        } else {
            add_past(known, std::move(old), mapping.time_ns);
        }
    }
    known.now = std::move(stay);
    if (known.now.size() < kMaxMappings) known.now.push_back(std::move(mapping));
}

void MapsLog::forked(uint32_t parent, uint32_t child) {
    auto found = processes_.find(parent);
    if (found == processes_.end()) return;
    std::vector<SeenMapping> inherited = found->second.now;
    Process& mine = process(child);
    if (mine.now.empty()) mine.now = std::move(inherited);
}

std::vector<CodeMapping> MapsLog::mappings(uint32_t pid, uint64_t before_ns) const {
    auto found = processes_.find(pid);
    if (found == processes_.end()) return {};
    std::vector<CodeMapping> mappings;
    for (const SeenMapping& one : found->second.now) {
        if (one.time_ns < before_ns) mappings.push_back(mapping_of(one));
    }
    for (const Past& one : found->second.past) {
        bool was_there = one.mapping.time_ns < before_ns && before_ns <= one.until_ns;
        if (was_there) mappings.push_back(mapping_of(one.mapping));
    }
    std::ranges::sort(mappings, {}, &CodeMapping::start);
    return mappings;
}

MapsLog::Replaced MapsLog::replaced(uint32_t pid, uint64_t time_ns) const {
    Replaced out;
    auto found = processes_.find(pid);
    if (found == processes_.end()) return out;
    for (const Past& one : found->second.past) {
        if (one.until_ns <= time_ns) out.last = one.until_ns;
        if (one.until_ns > time_ns) out.next = std::min(out.next, one.until_ns);
    }
    return out;
}

}  // namespace mlbcc::symbols
