// Events and sums made by hand, for what is found in a trace.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "saved/event_fields.h"
#include "sink/sink.h"

namespace mlbcc::test {

using Arguments = std::vector<saved::EventFields::Argument>;

inline saved::EventFields event_fields(std::string_view type, std::string_view name,
                                       uint64_t time_ns, uint32_t pid, uint32_t tid,
                                       Arguments arguments = {}, uint64_t duration_ns = 0) {
    saved::EventFields one;
    one.type = type;
    one.name = name;
    one.comm = "python3";
    one.time_ns = time_ns;
    one.duration_ns = duration_ns;
    one.pid = pid;
    one.tid = tid;
    one.arguments = std::move(arguments);
    return one;
}

inline sink::Stat stat(std::string label, sink::Group by, uint64_t value, uint64_t calls) {
    sink::Stat made;
    made.label = std::move(label);
    made.by = std::move(by);
    made.value = value;
    made.calls = calls;
    return made;
}

}  // namespace mlbcc::test
