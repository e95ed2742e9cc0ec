// A sink writes what it is given in one format. Sinks know nothing of BPF.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "event/event.h"
#include "event/pipeline.h"

namespace mlbcc::sink {

struct TraceInfo {      // the `meta` line
    std::string tool;   // "mlbcc 0.1.0"
    std::string start;  // "2026-11-20T12:00:00.000000Z"
    std::string kernel, arch;
    std::vector<std::string> command, rules;
    std::vector<std::string> environment;  // names of its variables, never what they hold
    std::string folder, home;              // of the command: where paths begin, "" if not known
    std::string report;                    // what the trace was made for, "" if nothing of its own
    uint64_t start_ns = 0;                 // CLOCK_MONOTONIC of ts 0
};

using Group = std::vector<std::pair<std::string, std::string>>;  // by: name to JSON value text

// Of the records that a number is made of, which events are, too. What programs in the kernel count
// needs none: nothing is lost then.
struct Lost {
    bool by_records = false;
    uint64_t lost = 0, submitted = 0;  // of the rules that change it
};
struct Stat {
    std::string rule;
    plan::AggregateKind kind{};  // count or sum
    std::string label;
    rules::Unit unit{};
    Group by;
    uint64_t value = 0;  // sums of signed values: two's complement
    uint64_t calls = 0;  // how many were summed
    bool is_signed = false;
    uint64_t over_ns = 0;   // the time that the sum took, where its rule says it: else 0
    bool is_named = false;  // the label is the rule's own: with others of this label it is one
    // Of a sum of durations, ns: without that of calls of the same clause within; null: not known.
    std::optional<uint64_t> own = std::nullopt;
    Lost lost = {};  // of its clause
};
struct Hist {
    std::string rule, label;
    rules::Unit unit{};
    Group by;
    // Two's complement where they may be negative.
    uint64_t count = 0, sum = 0, min = 0, max = 0;
    struct Bucket {
        uint64_t low, high, count;  // low <= value < high; likewise
    };
    std::vector<Bucket> buckets;  // in the order of the values
    bool is_signed = false;
    std::optional<uint64_t> own;  // as Stat::own
    Lost lost;
};
struct Gauge {
    std::string rule, name;
    rules::Unit unit{};
    uint32_t pid = 0;
    int64_t value = 0, peak = 0;
    struct Held {
        std::string key;  // as JSON value text: "\"0x7f00\"" or "5"
        int64_t value = 0;
        std::vector<std::string> stack;
    };
    std::vector<Held> held;   // the largest, largest first
    uint64_t held_count = 0;  // of all
    Group by;                 // at most one part
    struct Peak {             // when it was reached, ns since the trace began, and in what call
        uint64_t time_ns = 0;
        std::string function;
        std::vector<std::string> stack;
    } at_peak;
    Lost lost;
};
// The largest of what one clause saw, the largest first; values are signed as JSON has them.
struct LargestOnes {
    std::string rule, title, by;
    rules::Unit unit{};
    uint64_t calls = 0;  // of which these are the largest
    struct Field {
        std::string name, json;  // JSON value text
        rules::Unit unit{};
    };
    struct Entry {
        uint64_t time_ns = 0;  // since the trace began
        uint32_t pid = 0, tid = 0;
        std::string comm;
        Field value;
        std::vector<Field> fields;
        std::vector<std::string> stack;
    };
    std::vector<Entry> entries;
    Lost lost;
};
struct RuleLoss {
    std::string rule;
    uint64_t submitted = 0, lost = 0, received = 0, unmatched_begin = 0, unmatched_end = 0;
    uint32_t sample = 1;
    uint64_t without_stack = 0;  // events, of those received: for their stack there was no room
    uint64_t no_group = 0;       // times that a count, sum or hist had no room for another group
};
// How long the calls of a function took, all its forms together.
struct FunctionTime {
    std::string function, library, layer;
    uint64_t calls = 0, total_ns = 0, max_ns = 0;
};
// Where the time went of a function's calls that were in no other call: in what layer of calls,
// each moment with the innermost of them.
struct NestedTime {
    std::string function, library, layer;
    uint64_t calls = 0, total_ns = 0;
    uint64_t itself_ns = 0;                                // in nothing that was traced
    std::vector<std::pair<std::string, uint64_t>> inside;  // layer and time, the most first
};
// Which of a library's traced functions were called.
struct LibraryCoverage {
    std::string library;
    uint64_t functions = 0;           // that were traced
    std::vector<std::string> called;  // their symbols, in alphabetical order
    bool ended = false;  // of some only calls that ended are known: one may have gone on to the end
};
// Addresses of a library's functions that programs were given (rules with `trace`).
struct GivenAddresses {
    std::string library;
    uint64_t answers = 0;  // all of them where functions that are known begin, but for:
    std::vector<std::string> elsewhere, untraced;  // functions: probed at once; not to be probed
    uint64_t unseen = 0;  // answers to processes that had ended when they were looked at
};
// What tracing took of the traced threads' time: an estimate (docs/cost.md).
struct TracingCost {
    uint64_t ns = 0;                 // of CPU time
    std::optional<uint64_t> cpu_ns;  // all that the threads used, tracing included, if it is known
    static constexpr size_t kMostFunctions = 10;
    struct Function {
        std::string function, library;
        uint64_t hits = 0, ns = 0;
        bool by_pattern = false;  // a rule has it by a pattern, and could do without it
    };
    std::vector<Function> functions;  // the dearest first
    bool exceeds(double share) const {
        return cpu_ns && static_cast<double>(ns) > share * static_cast<double>(*cpu_ns);
    }
};
struct MetricSnapshot {
    std::vector<Stat> stats;
    std::vector<Hist> hists;
    std::vector<Gauge> gauges;
    std::vector<LargestOnes> largest;       // by list, in the plan's order
    std::vector<RuleLoss> losses;           // by rule, in the plan's order
    std::vector<FunctionTime> functions;    // the slowest single call first
    std::vector<NestedTime> nested;         // the longest first; only those with calls inside
    std::vector<LibraryCoverage> coverage;  // only where it is exact
    std::vector<target::LeftOut> left_out;
    std::vector<GivenAddresses> addresses;
    std::optional<TracingCost> cost;  // none where it is not known
    // What was not over when the trace ended, and is counted with its time until then: by probe.
    std::vector<std::pair<std::string, uint64_t>> going_on;
    // Calls whose end the kernel did not await, by function (docs/events.md).
    std::vector<std::pair<std::string, uint64_t>> too_deep;
    // System calls of the 32-bit interface, which are left out.
    uint64_t calls_32_bit = 0;
};
// What counts, sums and histograms gained since the last look at them (the `sums` record): only
// what did. A histogram's `min` and `max` are those of all it has seen so far.
struct Sums {
    uint64_t time_ns = 0, since_ns = 0;  // CLOCK_MONOTONIC; since: of the look before
    uint64_t every_ns = 0;               // how often the rules want it
    std::vector<Stat> stats;
    std::vector<Hist> hists;
};
struct TraceEnd : event::Totals {  // the `summary` record
    uint64_t time_ns = 0;
    uint64_t missed = 0;     // hits of probes, by any process, for which the kernel ran no program
    uint64_t reloads = 0;    // times that the rules changed: `metrics` are those since the last
    std::string end_reason;  // "exit", "interrupted", "duration", ...
    MetricSnapshot metrics;
};
// What could not be kept or was not seen: said in the summary and its record where there was some.
struct EndCounter {
    const char* name;  // in the record
    uint64_t TraceEnd::*count;
    const char* noun;  // "3 records"
    std::string what;  // "not understood"
};
std::vector<EndCounter> end_counters();

// Other rules from now on (the `reload` record).
struct Reload {
    uint64_t time_ns = 0;
    uint64_t number = 0;  // the first is 1
    std::string why;
    std::vector<std::string> rules;
    TraceEnd before;                   // what was counted with the rules until now
    const plan::Plan* plan = nullptr;  // from now on; it outlives the sink, or the next change
};

// Finds out from events what becomes MetricSnapshot::nested.
class NestedTimes : public event::EventConsumer {
public:
    virtual std::vector<NestedTime> times() const = 0;
};
std::unique_ptr<NestedTimes> make_nested_times(const plan::Plan& plan);

class Sink : public event::EventConsumer {
public:
    virtual void sums(const Sums&, uint64_t /*event_id*/) {}
    // Called at least every 100 ms while tracing: what is buffered becomes visible. An error is
    // told once; from then on nothing is written.
    virtual Result<void> flush() { return {}; }
    virtual Result<void> finish(const TraceEnd&, uint64_t /*event_id*/) { return {}; }
    // All events of the rules until now have been given.
    virtual void reload(const Reload&, uint64_t /*event_id*/) {}
};

// The sinks read the plan, which may grow meanwhile, to the end or to its change.
// A JSONL file ("-" is standard output); writes the meta line at once. Errors: cannot create, full.
// SIGPIPE must be ignored: a closed pipe is an error of flush() then.
Result<std::unique_ptr<Sink>> open_jsonl(const std::string& path, const TraceInfo& info,
                                         const plan::Plan& plan);
// The summary for the terminal, written to `fd` at the end.
std::unique_ptr<Sink> make_summary(int fd, const TraceInfo& info, const plan::Plan& plan);
// Distinct stacks and how many events have them, or for how long their calls took (in
// microseconds), in the form that flamegraph.pl and speedscope read; written at the end to a file
// that is created at once ("-" is standard output). `note` is told what the file lacks.
enum class FoldedBy { events, duration };
using TellNote = std::function<void(const std::string&)>;
Result<std::unique_ptr<Sink>> open_folded(const std::string& path, FoldedBy by, TellNote note);
// All of `sinks`, in their order. An error of one is told when all have been called.
std::unique_ptr<Sink> make_tee(std::vector<std::unique_ptr<Sink>> sinks);

// Fills in what the pipeline counted: totals, gauges, functions and, for each rule of the plan,
// what was received and unmatched (`submitted` and `lost` stay as they are; a rule without an entry
// in `losses` gets one).
// `start_ns`: TraceInfo's.
void add_counts(TraceEnd& end, const event::Pipeline& pipeline, const plan::Plan& plan,
                uint64_t start_ns);

// A value as JSON text, as it stands in an event: "\"CUDA_SUCCESS\"", "5", "null".
std::string json_text(const event::Value& value);

}  // namespace mlbcc::sink
