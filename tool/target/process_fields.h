// What a rule on `interval:` knows of a process: fields by name, with where each is read. A rule
// names a field as it is, or how much it has changed since the last look:
//
//   on interval:100ms { event process.sample(resident, cpu_time_change, elapsed) }
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "rules/rules.h"
#include "rules/types.h"

namespace mlbcc::target {

enum class ProcessSource {
    looks,        // nothing is read
    stat,         // /proc/PID/stat, which is read at every look
    status,       // /proc/PID/status
    io,           // /proc/PID/io
    descriptors,  // /proc/PID/fd
    clock,        // the process's CPU-time clock, clock_getcpuclockid(3)
    tasks,        // /proc/PID/task/TID/status of each thread that lives
    counters      // the CPU's own, perf_event_open(2), from the first look at the process on
};

enum class ProcessUnit { one, bytes, pages, kibibytes, ticks, nanoseconds };

// https://man7.org/linux/man-pages/man5/proc.5.html
struct ProcessField {
    std::string_view name;
    ProcessSource source{};
    std::string_view key;  // status, io, tasks: the line's name
    // stat: counted from 1, as in the manual; counters: PERF_COUNT_HW_*, linux/perf_event.h
    uint32_t column = 0;
    ProcessUnit unit{};  // as it is read; shown are bytes and nanoseconds
};

inline constexpr auto kProcessFields = std::to_array<ProcessField>({
    {"elapsed", ProcessSource::looks, "", 0, ProcessUnit::nanoseconds},  // since the last look
    {"resident", ProcessSource::stat, "", 24, ProcessUnit::pages},
    {"virtual", ProcessSource::stat, "", 23, ProcessUnit::bytes},
    {"peak_resident", ProcessSource::status, "VmHWM", 0, ProcessUnit::kibibytes},
    {"anonymous", ProcessSource::status, "RssAnon", 0, ProcessUnit::kibibytes},
    {"file_mapped", ProcessSource::status, "RssFile", 0, ProcessUnit::kibibytes},
    {"shared", ProcessSource::status, "RssShmem", 0, ProcessUnit::kibibytes},
    {"swap", ProcessSource::status, "VmSwap", 0, ProcessUnit::kibibytes},
    {"threads", ProcessSource::stat, "", 20, ProcessUnit::one},
    {"cpu_time", ProcessSource::clock, "", 0, ProcessUnit::nanoseconds},
    {"user_time", ProcessSource::stat, "", 14, ProcessUnit::ticks},
    {"system_time", ProcessSource::stat, "", 15, ProcessUnit::ticks},
    {"minor_faults", ProcessSource::stat, "", 10, ProcessUnit::one},
    {"major_faults", ProcessSource::stat, "", 12, ProcessUnit::one},
    {"voluntary_switches", ProcessSource::tasks, "voluntary_ctxt_switches", 0, ProcessUnit::one},
    {"involuntary_switches", ProcessSource::tasks, "nonvoluntary_ctxt_switches", 0,
     ProcessUnit::one},
    {"open_files", ProcessSource::descriptors, "", 0, ProcessUnit::one},
    {"read_bytes", ProcessSource::io, "read_bytes", 0, ProcessUnit::bytes},
    {"written_bytes", ProcessSource::io, "write_bytes", 0, ProcessUnit::bytes},
    {"read_chars", ProcessSource::io, "rchar", 0, ProcessUnit::bytes},
    {"written_chars", ProcessSource::io, "wchar", 0, ProcessUnit::bytes},
    {"cycles", ProcessSource::counters, "", 0, ProcessUnit::one},
    {"instructions", ProcessSource::counters, "", 1, ProcessUnit::one},
    {"cache_misses", ProcessSource::counters, "", 3, ProcessUnit::one},
    {"branch_misses", ProcessSource::counters, "", 5, ProcessUnit::one},
});
// As parameters of an interval's signature: all fields, then the change of each but the first.
inline constexpr uint32_t kProcessFieldCount = kProcessFields.size();
inline constexpr uint32_t kProcessValueCount = 2 * kProcessFieldCount - 1;
static_assert(kProcessValueCount < 64, "a set of them is the bits of a number");
// The field that parameter `value` is, or is the change of.
inline constexpr uint32_t field_of(uint32_t value) {
    return value < kProcessFieldCount ? value : value - kProcessFieldCount + 1;
}

// All fields of one source, as bits.
inline constexpr uint64_t fields_from(ProcessSource source) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < kProcessFieldCount; ++i) {
        if (kProcessFields[i].source == source) bits |= uint64_t{1} << i;
    }
    return bits;
}

std::string_view source_text(ProcessSource source);  // "/proc/PID/stat"
std::string period_text(uint64_t ns);                // "100ms", "1s", "1500us"

// void NAME(ssize_t resident, ..., ssize_t resident_change, ...)
rules::Signature interval_signature(std::string name, rules::TypeTable& types);

}  // namespace mlbcc::target
