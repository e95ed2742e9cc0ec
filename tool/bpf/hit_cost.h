// What a hit of a probe costs a thread on this machine, found by hitting one: the trap, the
// kernel's way to the program and back, and a program that does next to nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mlbcc::bpf {

// How functions are attached to: by sessions, else by uprobe_multi links, else by perf events.
struct FunctionLinks {
    bool session = false, multi = false;
};

// Nanoseconds. `entry`: the probe where a function begins; `both`: with the one where it returns.
struct TrapCost {
    double entry = 0, both = 0;
};
struct HitCost {
    TrapCost hot;        // again and again: all that is touched is in the caches
    TrapCost cold;       // after other work of some 20 us
    double syscall = 0;  // of two programs at both ends of a system call
    double record = 0;   // of 64 bytes, in a program
    double step = 0;     // of an instruction that the kernel single-steps, besides
    bool is_plausible() const {
        return hot.entry > 0 && hot.both > hot.entry && cold.entry > hot.entry &&
               cold.both > hot.both;
    }
};
// What other work is between two hits that counts as none, and as cold.
inline constexpr double kHotGapNs = 2'000, kColdGapNs = 20'000;

// Takes some 60 ms. Errors: as of attaching.
Result<HitCost> measure_hit_cost(FunctionLinks by);

// One line, and back.
std::string to_text(const HitCost& cost);
std::optional<HitCost> read_hit_cost(std::string_view line);

}  // namespace mlbcc::bpf
