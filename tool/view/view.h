// A trace in the forms that other programs show: Chrome's and Perfetto's viewers, tables, a page.
// docs/viewers.md says what is what.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "saved/saved_trace.h"
#include "view/drawn_event.h"
#include "view/spans.h"

namespace mlbcc::view {

struct Ending {  // what is known when all has been given
    uint64_t time_ns = 0;
    uint64_t lost = 0;
    uint64_t events = 0;       // that the summary tells of; without one those that were read
    uint64_t processes = 0;    // likewise
    bool has_summary = false;  // else the trace was cut
    std::string summary;       // its line, JSON; "" where there is none
};

struct TraceOrigin {  // the `meta` line
    std::string tool, start, kernel, arch;
    std::vector<std::string> command;
};

// Writes what it is given in one form.
class ViewWriter {
public:
    virtual ~ViewWriter() = default;
    virtual void slice(const Slice&) = 0;         // a call, when it is over
    virtual void instant(const DrawnEvent&) = 0;  // also one whose type is `counter`
    virtual void lost(const saved::LostEvents&) = 0;
    virtual bool failed() const = 0;                 // nothing more is written
    virtual Result<void> finish(const Ending&) = 0;  // errors: cannot be written
};

// Created at once; "-" is standard output. Errors: cannot create.
using Opened = Result<std::unique_ptr<ViewWriter>>;
Opened open_chrome(const std::string& path, const TraceOrigin& origin);
// With `max_size` only the latest of that many bytes, 64 KiB at least, and a mark where it begins;
// it is held in memory until the end.

Opened open_perfetto(const std::string& path, std::optional<uint64_t> max_size);
Opened open_csv(const std::string& path);
Opened open_pprof(const std::string& path);  // stacks are held in memory until the end
// JSON of what `mlbcc profile` and `mlbcc serve` report of the trace, or "".
struct Reports {
    std::string profile, requests;
};
// What is drawn is held in memory until the end.
Opened open_html(const std::string& path, const TraceOrigin& origin, Reports reports);

// Which calls a report is of.
struct CallSelection {
    std::vector<std::string> types;            // globs; none: all
    std::string name;                          // glob, of the name or of the function; "": all
    uint64_t from_ns = 0, to_ns = UINT64_MAX;  // that began then, since the trace began
    size_t top = 10;                           // names, and longest calls, that the text shows
};
bool is_chosen(const CallSelection& wanted, const DrawnEvent& record);  // by type and name

// Of records that are chosen, one by one: whether the call has another one that is.
class ChosenCalls {
public:
    explicit ChosenCalls(const CallSelection& wanted) : wanted_(wanted) {}
    bool has(const DrawnEvent& record);

private:
    const CallSelection& wanted_;
    uint32_t tid_ = 0;  // of the last call whose first record is not chosen
    uint64_t time_ns_ = UINT64_MAX;
    std::string function_;
};

// Of calls and instants: how many of each name, how long they took, and the longest ones.
class CallReport : public ViewWriter {
public:
    virtual bool is_empty() const = 0;
    virtual std::string text() const = 0;
    virtual std::string json() const = 0;  // docs/viewers.md
};
std::unique_ptr<CallReport> report_calls(const CallSelection& wanted);

// A trace as lines of characters: a lane for each thread and type, rows for calls in calls.
struct TimelineLook {
    size_t width = 100;  // characters
    bool colors = false, ascii = false;
};
class Timeline : public ViewWriter {
public:
    virtual bool is_empty() const = 0;
    virtual std::string text(const TimelineLook& look) = 0;
};
// Of the calls that are there between `from_ns` and `to_ns`; `top`: threads, those with the most
// calls.
std::unique_ptr<Timeline> draw_timeline(const CallSelection& wanted);

// An event of the type `counter` is the value of one: its arguments that are numbers are drawn as
// lines over time.
bool is_counter(const DrawnEvent& record);

// Gives all that is in the trace to the writer that `open` makes, and finishes it. Returns what was
// left out of the trace. Errors: of both files.
using OpenWriter = std::function<Opened(const TraceOrigin&)>;
Result<saved::ReadLines> convert(saved::TraceFile& trace, const OpenWriter& open);
// The same to a writer that is there.
Result<saved::ReadLines> convert(saved::TraceFile& trace, ViewWriter& writer);

}  // namespace mlbcc::view
