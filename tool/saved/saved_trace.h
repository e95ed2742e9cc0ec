// A JSONL trace to what the terminal showed at its end: from its `summary` line or, where a trace
// has none because it was cut, as much as its events tell.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "event/event.h"
#include "saved/input.h"
#include "saved/json_line.h"
#include "sink/summary_text.h"

namespace mlbcc::saved {

struct SavedTrace {
    sink::TraceEnd end;  // its time is that since the trace began
    std::vector<sink::Layer> layers;
    bool has_summary = true;
    // Without a summary only:
    std::optional<uint64_t> last_event_id;
    uint64_t damaged =
        0;  // lines that are no JSON object; a last one cut in the middle is not counted
};

// What was left out of the lines of a file.
struct ReadLines {
    uint64_t damaged = 0;  // were no JSON objects, but for a last one
    bool cut = false;      // the last one is none: it ends in the middle
};

using TakeLine = std::function<bool(const Json&)>;

// A saved trace, opened: its first line has been read. Each of what follows can be had once; all
// read on to the end, unpack what zstd has packed, and need memory that does not grow with the
// number of events. Errors name the file: it cannot be read or unpacked.
class TraceFile {
public:
    // "-" is standard input. Errors: also that it is missing; it is no trace; it is of another
    // schema.
    static Result<TraceFile> open(const std::string& path, ReadProgress progress = {});
    TraceFile(TraceFile&&) noexcept;
    ~TraceFile();

    Result<SavedTrace> summary();
    // Gives `take` the objects of all lines, the `meta` line first, until it returns false. Where
    // that is at the `meta` line, nothing has been read.
    Result<ReadLines> each_line(const TakeLine& take);
    // Gives the events to `consumer`, as far as their lines tell: id, phase, begin, parent, time
    // (since the trace began), duration, thread, stack, and of the probe the names; and the summary
    // to `end`.
    Result<ReadLines> replay(event::EventConsumer& consumer, sink::TraceEnd& end);

private:
    struct Opened;
    explicit TraceFile(std::unique_ptr<Opened> opened);
    std::unique_ptr<Opened> opened_;
};
bool is_summary(const Json& line);
bool is_sums(const Json& line);

// What a summary made from events lacks, and why, in lines for the user; "" if there is one.
std::string note_on(const SavedTrace& trace, const std::string& path);

}  // namespace mlbcc::saved
