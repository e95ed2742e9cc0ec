// The events of a trace to what can be said of it without its `summary` line: how many there are,
// of how many processes and threads, what was lost, and how long the calls of each function took.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "saved/event_fields.h"
#include "sink/summary_text.h"

namespace mlbcc::saved {

class EventTally {
public:
    void add(const Json& line);  // an event or a `lost` line

    sink::TraceEnd end() const;
    std::vector<sink::Layer> layers() const;  // by when their first call ended
    std::optional<uint64_t> last_event_id() const { return last_; }

private:
    // A clause of the rules, as far as a line shows it.
    struct Clause {
        std::string function, symbol, type, name;
        bool is_span;
        bool operator<(const Clause& other) const {
            return std::tie(function, symbol, type, name, is_span) <
                   std::tie(other.function, other.symbol, other.type, other.name, other.is_span);
        }
    };
    struct Times {
        uint64_t calls = 0, total_ns = 0, max_ns = 0;
    };
    struct Form {  // of a function
        std::string layer;
        Times times;
    };
    void add_line(uint64_t id, uint64_t time_ns);
    void add_event(const EventFields& one);
    std::map<std::pair<std::string, std::string>, Form> forms() const;

    EventFields event_;  // of the line that is read
    uint64_t end_ns_ = 0, lines_ = 0, lost_ = 0;
    std::optional<uint64_t> last_;
    std::set<uint32_t> processes_;
    std::set<std::pair<uint32_t, uint32_t>> threads_;
    std::map<Clause, Times> times_;
    std::vector<std::string> span_types_;  // by first end
    std::unordered_set<std::string> known_types_;
};

}  // namespace mlbcc::saved
