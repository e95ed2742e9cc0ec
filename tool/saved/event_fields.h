// An event by the names that its rule gave, whether it comes from a running trace or from a line of
// a saved one. All that reads an event of a saved trace reads it here.
//
//   event file.open(path = ..., size = ...)  ->  {"file", "open", {path: "a.bin", size: 4096}}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "event/event.h"
#include "saved/json_line.h"

namespace mlbcc::saved {

// As it stands in the trace: null (it could not be read), a boolean, a number, a text, or a list:
// an array, a stack that was learnt.
struct FieldValue;
using FieldValues = std::vector<FieldValue>;
struct FieldValue
    : std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string_view, FieldValues> {
    using variant::variant;
    bool is_null() const { return index() == 0; }
};

// Lives as long as the event or the line that it was read from.
struct EventFields {
    struct Argument {
        std::string_view name;
        FieldValue value;
    };
    uint64_t id = 0;
    event::Phase phase{};
    std::optional<uint64_t> begin, parent;  // ids
    uint64_t time_ns = 0;                   // since the trace began; of an X its beginning
    uint64_t duration_ns = 0;               // E and X
    bool has_duration = true;               // false: it is not known
    bool goes_on = false;                   // X: not over; the duration is until the trace's end
    uint32_t pid = 0, tid = 0, cpu = 0;
    uint64_t sample = 1;  // it stands for so many
    std::string_view comm, type, name;
    std::string_view function, symbol;  // as a line has them: "" where they are the name
    std::vector<Argument> arguments;
    std::optional<FieldValue> ret;
    std::vector<std::string_view> stack;  // symbolised frames, innermost first

    // 0 or "" where there is no such argument, or it could not be read. Large numbers and addresses
    // may be there as text.
    int64_t number(std::string_view argument) const;
    std::string_view text(std::string_view argument) const;
    uint64_t natural(std::string_view argument) const;  // a number, 0 if negative
    bool has(std::string_view argument) const { return find(argument) != nullptr; }

private:
    const FieldValue* find(std::string_view argument) const;
};

// Who, what and when: all but the values. False where the line is no event.
bool read_event(const Json& line, EventFields& fields);
void read_values(const Json& line, EventFields& fields);  // its arguments and what it returned

// {"event_id":6,"ts":0.009000000,"type":"lost","cpu":1,"count":17,"rules":["cuda.rules:12"]}
struct LostEvents {
    uint64_t time_ns = 0, count = 0;
    uint32_t cpu = 0;
    std::vector<std::string_view> rules;
    uint64_t id = 0;
};
std::optional<LostEvents> read_lost(const Json& line);

// Whether an event of type `process` is the exit of a process's last thread; that of its first, of
// a trace that does not say.
bool ends_process(const EventFields& one);

// Valid until the next call of the same reader.
class FieldsReader {
public:
    // `start_ns` is what the event's clock showed when the trace began.
    const EventFields& read(const event::Event& event, uint64_t start_ns);
    const EventFields* read(const Json& line);  // null where the line is no event

private:
    EventFields out_;
};

}  // namespace mlbcc::saved
