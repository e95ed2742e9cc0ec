// A JSONL trace to what the terminal showed at its end: from its `summary` line or, where a trace
// has none because it was cut, as much as its events tell.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "event/event.h"
#include "report/json_line.h"
#include "sink/summary_text.h"

namespace mlbcc::report {

struct SavedTrace {
    sink::TraceEnd end;  // its time is that since the trace began
    std::vector<sink::Layer> layers;
    bool has_summary = true;
    // Without a summary only:
    std::optional<uint64_t> last_event_id;
    uint64_t damaged =
        0;  // lines that are no JSON object; a last one cut in the middle is not counted
};

// Errors name the file: it is missing or cannot be read; it is no trace; it is of another schema.
// A pipe is read to its end. Memory does not grow with the number of events.
Result<SavedTrace> read_trace(const std::string& path);

// Gives the events of a trace to `consumer`, as far as their lines tell: id, phase, begin, parent,
// time (since the trace began), duration, thread, stack, and of the probe the names. Returns how
// many lines were no JSON objects; a last one cut in the middle is not counted. Errors as above.
Result<uint64_t> replay(const std::string& path, event::EventConsumer& consumer);

// Gives `take` the objects of all lines, the `meta` line first, until it returns false. Returns and
// errors as above.
Result<uint64_t> each_line(const std::string& path, const std::function<bool(const Json&)>& take);
bool is_summary(const Json& line);

// What a summary made from events lacks, and why, in lines for the user; "" if there is one.
std::string note_on(const SavedTrace& trace, const std::string& path);

}  // namespace mlbcc::report
