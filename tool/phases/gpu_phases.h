// The phases of a job that works on a GPU and reads no weights: imports, a first run in which code
// is loaded and compiled, steps, the end. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "phases/phases.h"

namespace mlbcc::phases {

struct Repeated {
    std::vector<TimeRange> spans;
    size_t first = 0;  // so many of them are a first run
    std::string evidence;
    bool from_beginning = false;  // nothing of its kind came before
    std::vector<TimeRange> without_first() const;
};
// By the calls that come again and again, not before `from_ns`; nothing where none do.
std::optional<Repeated> repeated_calls(const GpuCalls& calls, uint64_t from_ns);

struct Beginning {
    uint64_t time_ns = 0;
    bool was_seen = false;              // else the process was there before the trace
    std::optional<uint64_t> script_ns;  // Python opened its script
};
// `calls` has some work; what repeats does not begin before `from_ns`.
void cut_by_gpu(const GpuCalls& calls, const Beginning& beginning, uint64_t from_ns,
                PhaseReport& report);

}  // namespace mlbcc::phases
