// Calls and events as lines of text, as they come (`--print`):
//
//   12:00:00.005000 python3 70          2.00 ms memory.alloc cuMemAlloc(size=4096) = CUDA_SUCCESS
//
// A line has the time at which the call began, the thread, how long it took, and what it was given
// and returned; it comes when the call is over. A call that is long not over has a line before.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "event/event.h"

namespace mlbcc::terminal {

struct LiveFilter {
    std::vector<std::string> types;  // patterns; none: every type
    uint64_t min_ns = 0;             // of calls: events that took no time are left out, too
};

class LiveText {
public:
    // `epoch_ns`: when CLOCK_MONOTONIC was 0, since 1970.
    LiveText(const plan::Plan& plan, LiveFilter filter, uint64_t epoch_ns);

    // The line of it, "" where there is none (yet).
    std::string event(const event::Event& event);
    static std::string lost(const event::Loss& loss);
    // Of calls that began before and are not over, those that have no line.
    std::vector<std::string> open_since(uint64_t time_ns);
    // The plan has grown, or is another one.
    void changed(const plan::Plan& plan);

private:
    struct Names {
        std::string what;  // "memory.alloc cuMemAlloc"
        std::vector<std::string> fields;
        bool is_wanted = true;  // by its type
    };
    struct Open {
        uint64_t time_ns = 0;
        std::string thread, what, values;
        bool has_line = false;
    };
    Names names_of(const event::EmitClause& clause) const;
    std::string line(const Open& call, std::string_view took) const;

    LiveFilter filter_;
    uint64_t epoch_ns_;
    const plan::Plan* plan_;
    std::vector<Names> names_;       // by ClauseId
    std::map<uint64_t, Open> open_;  // by the id of the event that began it
};

}  // namespace mlbcc::terminal
