// Looks at processes, as records. The kernel makes the records of every other probe; here the
// tracer does, of values that it has read itself, and all else is computed as the rest of late
// values is.
//
//   Look{resident = 64 MiB, ...}  ->  the bytes of a record, as if it came from a ring
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace mlbcc::event {

// A process as the tracer saw it at one moment.
struct Look {
    plan::ProbeId probe{};  // an interval
    uint64_t time_ns = 0;   // CLOCK_MONOTONIC
    uint32_t pid = 0, ppid = 0, cpu = 0;
    std::string_view comm;            // at most 15 bytes
    std::span<const int64_t> values;  // one a parameter of the probe's signature
    uint64_t unread = 0;              // bit i: values[i] could not be read
};

class Looks {
public:
    explicit Looks(const plan::Plan& plan) : plan_(plan), submitted_(plan.rules.size()) {}

    // The record to be written; empty if no rule wants one. It lives until the next call.
    std::span<const std::byte> take(const Look& look);
    // Records that were made, of a rule.
    uint64_t submitted(plan::RuleId rule) const { return submitted_[static_cast<uint32_t>(rule)]; }

private:
    const plan::Plan& plan_;
    std::vector<uint64_t> submitted_;  // by RuleId
    std::vector<std::byte> record_;
};

}  // namespace mlbcc::event
