// An event as the findings of a profile see it: by the names that its rule gave, whether it comes
// from a running trace or from a line of a saved one.
//
//   event file.open(path = ..., size = ...)  ->  {"file", "open", {path: "a.bin", size: 4096}}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "event/event.h"
#include "saved/json_line.h"

namespace mlbcc::saved {

// Lives as long as the event or the line that it was read from.
struct Happening {
    std::string_view type, name, comm;
    uint64_t time_ns = 0;  // since the trace began; of a call its beginning
    uint64_t duration_ns = 0;
    uint32_t pid = 0, tid = 0;
    struct Argument {
        std::string_view name;
        std::variant<int64_t, std::string_view> value;
    };
    std::vector<Argument> arguments;      // those that could be read
    std::vector<std::string_view> stack;  // symbolised frames, innermost first

    // 0 or "" where there is no such argument. Large numbers and addresses may be there as text.
    int64_t number(std::string_view argument) const;
    std::string_view text(std::string_view argument) const;
    uint64_t natural(std::string_view argument) const;  // a number, 0 if negative
    bool has(std::string_view argument) const { return find(argument) != nullptr; }

private:
    const Argument* find(std::string_view argument) const;
};

// Whether an event of type `process` is the exit of a process's last thread; that of its first, of
// a trace that does not say.
bool ends_process(const Happening& one);

// Valid until the next call of the same reader.
class HappeningReader {
public:
    // `start_ns` is what the event's clock showed when the trace began.
    const Happening& read(const event::Event& event, uint64_t start_ns);
    const Happening* read(const Json& line);  // null where the line is no event

private:
    Happening out_;
};

}  // namespace mlbcc::saved
