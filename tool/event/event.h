// From records to events: bytes of the rings, merged into time order over CPUs, paired into spans,
// named, and handed to sinks. Here is what an event is; pipeline.h makes them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buckets.h"
#include "plan/plan.h"

namespace mlbcc::symbols {
struct Stack;
}

namespace mlbcc::event {

enum class Phase : uint8_t { begin, end, complete, instant };  // B, E, X, i

// A value of an event. `text` points into the record or into the learnt tables and lives as long
// as the call that gets it.
struct Value {
    const plan::ValueType* type = nullptr;
    uint64_t bits = 0;  // numbers, enums, pointers: sign or zero extended
    // Kind::text, comm, function, symbol; the name learnt; or the enum constant's name, "" where
    // no constant has this value.
    std::string_view text;
    bool learnt = false;  // `text` is the name learnt for `bits`
    bool unread = false;  // the memory could not be read: shown as null
    symbols::Stack* stack =
        nullptr;                  // what was learnt is a stack, and `text` its innermost function
    std::span<const Value> list;  // Kind::list; they live as long as the call that gets it
};

struct NamedValue {
    std::string_view name;
    Value value;
    uint32_t field = 0;  // index into the clause's `fields`
};

// The span and event clauses of a plan, numbered densely: what tables over clauses are indexed by.
enum class ClauseId : uint32_t {};

struct EmitClause {
    const plan::ProbePlan* probe = nullptr;
    const plan::Emit* emit = nullptr;  // a SpanEmit or an EventEmit
    Phase phase{};
    const std::vector<plan::NamedField>& fields() const;
};

// By ClauseId: probe after probe, those of the entry record before those of the return record.
// They point into the plan.
std::vector<EmitClause> clauses(const plan::Plan& plan);

struct Event {
    uint64_t id = 0;
    Phase phase{};
    ClauseId clause{};
    const plan::ProbePlan* probe = nullptr;
    const plan::Emit* emit = nullptr;       // its span or event clause: a stable address
    uint64_t time_ns = 0;                   // CLOCK_MONOTONIC; of an X its beginning
    uint64_t duration_ns = 0;               // E and X
    bool has_duration = true;               // false: it is not known, and 0
    bool goes_on = false;                   // X: not over; the duration is until the trace's end
    std::optional<uint64_t> begin, parent;  // ids of events
    uint32_t pid = 0, tid = 0, cpu = 0;
    std::string_view comm;
    std::span<const NamedValue> values;
    std::optional<Value> ret;                 // E and X of a function that returns something
    std::span<const std::string_view> stack;  // symbolised frames, innermost first
};

struct Loss {
    uint64_t time_ns = 0;
    uint32_t cpu = 0;
    uint64_t count = 0;
    std::vector<std::string> rules;  // places of the rules whose records were lost
};

// Gets events in the order of their ids. What an event points at lives only during the call.
class EventConsumer {
public:
    virtual ~EventConsumer() = default;
    virtual void event(const Event&) {}
    virtual void lost(const Loss&, uint64_t /*event_id*/) {}
    // A moment that was asked for (Pipeline::add_moment): all before it has been given.
    virtual void reached(uint64_t /*time_ns*/) {}
};

// ---- what is known when a trace ends

// A gauge of one process (of one program it ran: exec begins anew).
struct GaugeState {
    std::string name;
    plan::RuleId rule{};  // the first that changes it
    rules::Unit unit{};
    uint32_t pid = 0;
    std::string group_name;      // "" where the gauge is not told apart
    std::optional<Value> group;  // this part's
    int64_t value = 0, peak = 0;
    uint64_t peak_time_ns = 0;
    std::string peak_function;  // of the call that reached it, "" where none has
    uint32_t peak_tid = 0;
    std::vector<std::string> peak_stack;
    struct Held {
        plan::ValueType key_type;
        uint64_t key = 0;  // extended as its type says
        std::string name;  // learnt for the key, or ""
        int64_t value = 0;
        std::vector<std::string> stack;
    };
    std::vector<Held> held;   // the largest, largest first
    uint64_t held_count = 0;  // of all
};

// How long calls of a function took, of those whose end spans or events tell.
struct ProbeTime {
    const plan::ProbePlan* probe = nullptr;
    uint64_t calls = 0, total_ns = 0, max_ns = 0;
};

// One group of a count, sum or hist that the tracer keeps.
struct TallyGroup {
    std::vector<Value> by;  // of the aggregate's keys
    uint64_t count = 0, sum = 0;
    uint64_t min = 0, max = 0;  // two's complement where they may be negative
    uint64_t over_ns = 0;       // the time that the sum took, where its clause says it
    buckets::Counts buckets{};
};

// One of the largest of a list.
struct LargestEntry {
    uint64_t bits = 0;     // signed as its list says
    uint64_t time_ns = 0;  // CLOCK_MONOTONIC: of a call its beginning
    uint32_t pid = 0, tid = 0;
    std::string_view comm;
    std::vector<NamedValue> values;
    std::span<const std::string_view> stack;  // symbolised frames, innermost first
};

struct RuleCounts {
    uint64_t received = 0;       // records whose hits name the rule
    uint64_t without_stack = 0;  // of these, for which there was no room
    uint64_t unmatched_begin = 0, unmatched_end = 0;
};

struct Totals {
    uint64_t events = 0;                  // event ids given, those of losses too
    uint64_t lost = 0;                    // sum of all Loss::count
    uint64_t late = 0;                    // written behind a later one (docs/events.md)
    uint64_t malformed = 0;               // records that the plan does not know
    uint64_t processes = 0, threads = 0;  // seen
    uint64_t not_learnt = 0, not_held = 0, no_stack = 0;  // a table, a gauge, the stacks were full
    uint64_t not_tallied = 0;                             // there were too many groups
};

}  // namespace mlbcc::event
