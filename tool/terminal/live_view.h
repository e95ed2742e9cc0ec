// What a live view shows of a trace that runs, as lines of text, and what its keys do. Knows
// nothing of terminals.
//
//   mlbcc  ./job  12 s  1 process  3 threads  1 024 events/s written  0 lost
//   NAME                      calls/s     calls      total    mean     p99     max
//   cuLaunchKernel                 42       504    1.20 ms  2.4 us           81 us
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sink/sink.h"

namespace mlbcc::terminal {

enum class LiveKey { up, down, page_up, page_down, home, end, backspace, enter, escape };

struct LiveRow {
    std::string name;
    uint64_t calls = 0;
    double rate = 0;  // calls a second since the last look
    rules::Unit unit{};
    // slow: the bound that 99 % are below. A gauge's total is its value.
    std::optional<uint64_t> total, slow, max;
    bool is_signed = false;  // these are: two's complement
    bool is_counted = true;  // gauges are not
};

class LiveView {
public:
    explicit LiveView(std::string program) : program_(std::move(program)) {}

    // `job`: what it is at, a line below the first, or empty; `time_ns`: since the trace began;
    // `cpu_ns`: of the tracer. Nothing changes while paused.
    void take(const sink::TraceEnd& counted, std::string job, uint64_t time_ns, uint64_t cpu_ns);
    // False: the view is to be ended.
    bool press(char character);
    void press(LiveKey key);

    enum class Style { titles, strong, loss, quiet };
    struct Mark {  // bytes of a line
        size_t line = 0, begin = 0, end = 0;
        Style style{};
    };
    struct Screen {
        std::vector<std::string> lines;  // as many as the terminal has rows, or fewer
        std::vector<Mark> marks;         // in order
    };
    // `output`: the last lines that the program wrote.
    Screen draw(size_t height, size_t width, const std::vector<std::string>& output);

private:
    enum class Column { rate, calls, total, mean, slow, max, name };
    std::vector<const LiveRow*> shown() const;  // filtered, in order
    void add_header(Screen& screen) const;
    void add_output(Screen& screen, const std::vector<std::string>& output) const;
    std::string titles(size_t name_width) const;
    std::string footer() const;
    std::vector<std::string> help() const;

    std::string program_, job_;
    std::vector<LiveRow> rows_;
    std::map<std::string, uint64_t> calls_before_;
    sink::TraceEnd last_;  // without its metrics
    uint64_t time_ns_ = 0, cpu_ns_ = 0;
    double events_rate_ = 0, cpu_share_ = 0;
    std::optional<sink::TracingCost> cost_;
    Column order_ = Column::total;
    std::string filter_;
    bool is_paused_ = false, edits_filter_ = false, helps_ = false;
    size_t top_ = 0, page_ = 1;
};

}  // namespace mlbcc::terminal
