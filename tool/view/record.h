// One line of a trace as viewers draw it: an event, or what was lost.
//
//   {"event_id":5,"ts":0.006,"type":"memory","name":"alloc","phase":"X",...,"args":{"size":4096}}
//       ->  {5, complete, 6000000 ns, "memory", "alloc", ..., {size: 4096}}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "event/event.h"
#include "saved/json_line.h"

namespace mlbcc::view {

// As it stands in the trace: null, a boolean, a number, a text, or a list: an array, a stack that
// was learnt.
struct Value;
using List = std::vector<Value>;
struct Value
    : std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string_view, List> {
    using variant::variant;
};

// Texts live as long as what it was read from.
struct Record {
    struct Argument {
        std::string_view name;
        Value value;
    };
    uint64_t id = 0;
    event::Phase phase{};
    std::optional<uint64_t> begin, parent;  // ids
    uint64_t time_ns = 0;                   // since the trace began; of an X its beginning
    uint64_t duration_ns = 0;               // E and X
    bool has_duration = true;               // false: it is not known
    bool goes_on = false;                   // X: not over; the duration is until the trace's end
    uint32_t pid = 0, tid = 0, cpu = 0;
    std::string_view comm, type, name;  // "cuLaunchKernel (1 in 64)" of a rule with `sample`
    std::string_view function, symbol;  // "" where they are the name
    std::vector<Argument> arguments;
    std::optional<Value> ret;
    std::vector<std::string_view> stack;  // innermost first
    // Another one of the same call that came before, as of a span and an event of one function: a
    // call is counted once. Its numbers, type, name and function are there.
    const Record* same = nullptr;
    size_t added = 0;  // bytes of the name that `sample` added
    std::string_view traced() const {
        return function.empty() ? name.substr(0, name.size() - added) : function;
    }
};

struct Lost {
    uint64_t time_ns = 0, count = 0;
    uint32_t cpu = 0;
    std::vector<std::string_view> rules;
};

class RecordReader {
public:
    // Valid until the next call; null where the line is no event.
    Record* read(const saved::Json& line);

private:
    bool read_phase(std::string_view phase);
    void read_names(const saved::Json& line);
    void read_values(const saved::Json& line);

    Record record_;
    std::string name_;  // where it is none of the line's texts
};

std::optional<Lost> read_lost(const saved::Json& line);

// A record with texts of its own.
class KeptRecord {
public:
    void keep(const Record& record);
    const Record& get() const { return record_; }

private:
    size_t bytes_of(const Record& record) const;
    std::string_view take(std::string_view text);
    Value take(const Value& value);

    Record record_;
    std::vector<char> texts_;
};

}  // namespace mlbcc::view
