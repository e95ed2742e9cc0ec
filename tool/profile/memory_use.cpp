#include "profile/memory_use.h"

#include <utility>

#include <fmt/format.h>

namespace mlbcc::profile {

void MemoryUse::add(const saved::EventFields& one) {
    if (one.type != "process") return;
    if (saved::ends_process(one)) {
        total_ -= std::exchange(resident_[one.pid], 0);
        return;
    }
    if (one.name != "memory" || !one.has("resident")) return;
    MemorySample sample{one.time_ns, one.pid, one.natural("resident"), one.natural("anonymous"),
                        one.natural("file_mapped")};
    total_ -= std::exchange(resident_[one.pid], sample.resident);
    total_ += sample.resident;
    if (total_ > report_.peak_resident) {
        report_.peak_resident = total_;
        report_.peak_ns = one.time_ns;
    }
    faults_[one.pid] = {one.natural("minor_faults"), one.natural("major_faults")};
    keep(sample);
}

// Where there are too many, every other look goes.
void MemoryUse::keep(const MemorySample& sample) {
    uint64_t look = looks_[sample.pid]++;
    if (look % report_.every != 0) return;
    samples_.emplace_back(look, sample);
    if (samples_.size() <= most_) return;
    report_.every *= 2;
    std::erase_if(samples_, [this](const auto& kept) { return kept.first % report_.every != 0; });
}

MemoryReport MemoryUse::report() const {
    MemoryReport made = report_;
    for (const auto& [pid, faults] : faults_) {
        made.minor_faults += faults.minor;
        made.major_faults += faults.major;
    }
    for (const auto& [look, sample] : samples_) made.samples.push_back(sample);
    return made;
}

static void add_members(JsonWriter& json, const MemorySample& sample) {
    member(json, "time_ns", sample.time_ns);
    member(json, "pid", sample.pid);
    member(json, "resident_bytes", sample.resident);
    member(json, "anonymous_bytes", sample.anonymous);
    member(json, "file_mapped_bytes", sample.file_mapped);
}

void add_members(JsonWriter& json, const MemoryReport& memory) {
    member(json, "peak_resident_bytes", memory.peak_resident);
    member(json, "peak_ns", memory.peak_ns);
    member(json, "minor_faults", memory.minor_faults);
    member(json, "major_faults", memory.major_faults);
    member(json, "every", memory.every);
    member(json, "samples", memory.samples);
}

void add_rows(sink::Rows& rows, const MemoryReport& memory) {
    if (memory.samples.empty()) return;
    rows.line(fmt::format("  most at once: {}, after {}; page faults: {}, {} of them from disk",
                          sink::short_bytes(memory.peak_resident),
                          sink::short_duration(memory.peak_ns),
                          sink::grouped(memory.minor_faults + memory.major_faults),
                          sink::grouped(memory.major_faults)));
}

}  // namespace mlbcc::profile
