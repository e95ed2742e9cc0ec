// A sink writes what it is given in one format. Sinks know nothing of BPF.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "event/event.h"

namespace mlbcc::sink {

struct TraceInfo {  // the `meta` line
    std::string tool;                    // "mlbcc 0.1.0"
    std::string start;                   // "2026-11-20T12:00:00.000000Z"
    std::string kernel, arch;
    std::vector<std::string> command, rules;
    uint64_t start_ns = 0;               // CLOCK_MONOTONIC of ts 0
};

using Group = std::vector<std::pair<std::string, std::string>>;  // by: name to JSON value text

struct Stat {
    std::string rule;
    plan::AggregateKind kind{};  // count or sum
    std::string label;
    rules::Unit unit{};
    Group by;
    uint64_t value = 0;          // sums of signed values: two's complement
    uint64_t calls = 0;          // how many were summed
    bool is_signed = false;
};
struct Hist {
    std::string rule, label;
    rules::Unit unit{};
    Group by;
    uint64_t count = 0, sum = 0, min = 0, max = 0;
    struct Bucket {
        uint64_t low, high, count;  // low <= value < high
    };
    std::vector<Bucket> buckets;
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
    std::vector<Held> held;
};
struct RuleLoss {
    std::string rule;
    uint64_t submitted = 0, lost = 0, received = 0, unmatched_begin = 0, unmatched_end = 0;
    uint32_t sample = 1;
};
struct MetricSnapshot {
    std::vector<Stat> stats;
    std::vector<Hist> hists;
    std::vector<Gauge> gauges;
    std::vector<RuleLoss> losses;
};
struct TraceEnd {  // the `summary` record
    uint64_t time_ns = 0;
    uint64_t events = 0, lost = 0, late = 0;
    uint32_t processes = 0, threads = 0;
    std::string end_reason;  // "exit", "interrupted", "duration", ...
    MetricSnapshot metrics;
};

class Sink {
public:
    virtual ~Sink() = default;
    virtual void event(const event::Event&) {}
    virtual void lost(const event::Loss&, uint64_t /*event_id*/) {}
    virtual void metrics(const MetricSnapshot&) {}
    // Called at least every 100 ms while tracing: what is buffered becomes visible.
    virtual Result<void> flush() { return {}; }
    virtual Result<void> finish(const TraceEnd&, uint64_t /*event_id*/) { return {}; }
};

// A JSONL file ("-" is standard output); writes the meta line at once. Errors: cannot create, full.
Result<std::unique_ptr<Sink>> open_jsonl(const std::string& path, const TraceInfo& info,
                                         const plan::Plan& plan);
// The summary for the terminal, written to `fd` at the end.
std::unique_ptr<Sink> make_summary(int fd, const TraceInfo& info, const plan::Plan& plan);

}  // namespace mlbcc::sink
