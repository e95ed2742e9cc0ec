// An event of a trace as viewers draw it.
//
//   {"name":"alloc","sample":64, ...}  ->  "alloc (1 in 64)"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "saved/event_fields.h"

namespace mlbcc::view {

// Texts live as long as what it was read from.
struct DrawnEvent : saved::EventFields {
    // Another one of the same call that came before, as of a span and an event of one function: a
    // call is counted once. Its numbers, type, name and function are there.
    const DrawnEvent* same = nullptr;
    size_t added = 0;  // bytes of the name that `sample` added
    std::string_view traced() const {
        return function.empty() ? name.substr(0, name.size() - added) : function;
    }
};

class EventReader {
public:
    // Valid until the next call; null where the line is no event.
    DrawnEvent* read(const saved::Json& line);

private:
    DrawnEvent event_;
    std::string name_;  // where it is none of the line's texts
};

// An event with texts of its own.
class KeptEvent {
public:
    void keep(const DrawnEvent& event);
    const DrawnEvent& get() const { return event_; }

private:
    size_t bytes_of(const DrawnEvent& event) const;
    std::string_view take(std::string_view text);
    saved::FieldValue take(const saved::FieldValue& value);

    DrawnEvent event_;
    std::vector<char> texts_;
};

}  // namespace mlbcc::view
