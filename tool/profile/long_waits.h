// Where threads waited long, by stack, from the events of rules/profile_waits.rules:
//
//   off_cpu.wait   with its duration and the stack
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "profile/section.h"
#include "saved/event_fields.h"

namespace mlbcc::profile {

struct LongWait {
    std::vector<std::string> stack;  // innermost first; empty where it could not be read
    uint64_t waits = 0, total_ns = 0, max_ns = 0;
    uint64_t longest_ns = 0;     // when the longest of them was over, since the trace began
    uint32_t pid = 0, tid = 0;   // whose that was
    std::set<uint32_t> threads;  // that waited so
};

struct LongWaitReport {
    std::vector<LongWait> waits;  // the longest time first
    uint64_t left_out = 0;        // waits whose stacks were too many
};

class LongWaits {
public:
    explicit LongWaits(size_t most = 5000) : most_(most) {}
    void add(const saved::EventFields& one);
    LongWaitReport report() const;

private:
    size_t most_;
    uint64_t left_out_ = 0;
    std::map<std::vector<std::string>, LongWait> by_stack_;
};

// But waits that only these threads had.
void add_rows(sink::Rows& rows, const LongWaitReport& report, const std::set<uint32_t>& idle);
void add_members(JsonWriter& json, const LongWait& wait);

}  // namespace mlbcc::profile
