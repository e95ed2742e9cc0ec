// From records to events: bytes of the rings, merged into time order over CPUs, paired into spans,
// named, and handed to sinks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace mlbcc::event {

enum class Phase : uint8_t { begin, end, complete, instant };  // B, E, X, i

// A value of an event. `text` points into the record or into the learnt tables and lives as long
// as the call that gets it.
struct Value {
    const plan::ValueType* type = nullptr;
    uint64_t bits = 0;           // numbers, enums, pointers: sign or zero extended
    std::string_view text;       // Kind::text, comm, function, symbol; or the name learnt
    bool learnt = false;         // `text` is the name learnt for `bits`
    bool unread = false;         // the memory could not be read: shown as null
};

struct NamedValue {
    std::string_view name;
    Value value;
};

struct Event {
    uint64_t id = 0;
    Phase phase{};
    const plan::ProbePlan* probe = nullptr;
    const plan::Emit* emit = nullptr;      // its span or event clause: a stable address
    uint64_t time_ns = 0;                  // CLOCK_MONOTONIC; of an X its beginning
    uint64_t duration_ns = 0;              // E and X
    std::optional<uint64_t> begin, parent; // ids of events
    uint32_t pid = 0, tid = 0, cpu = 0;
    std::string_view comm;
    std::span<const NamedValue> values;
    std::optional<Value> ret;              // E and X of a function that returns something
    std::span<const std::string> stack;    // symbolised frames, innermost first
};

struct Loss {
    uint64_t time_ns = 0;
    uint32_t cpu = 0;
    uint64_t count = 0;
    std::vector<std::string> rules;  // places of the rules whose records were lost
};

}  // namespace mlbcc::event
