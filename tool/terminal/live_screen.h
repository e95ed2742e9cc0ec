// The terminal, filled with what a trace has counted so far, by ncurses.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "terminal/captured_output.h"
#include "terminal/guard.h"
#include "terminal/live_view.h"

struct screen;

namespace mlbcc::terminal {

class LiveScreen {
public:
    struct Now {
        sink::TraceEnd counted;
        std::string job;  // what it is at, if that is known
    };
    using Look = std::function<Now()>;

    // From here on what is written to the terminal is kept; the screen itself comes with start(),
    // and is drawn `every` so often. Errors: standard output is no terminal, or one that TERM does
    // not say how to fill; the tracer is in the background.
    static Result<std::unique_ptr<LiveScreen>> open(std::string title,
                                                    std::optional<std::chrono::nanoseconds> every);
    ~LiveScreen() { end(); }
    LiveScreen(const LiveScreen&) = delete;
    LiveScreen& operator=(const LiveScreen&) = delete;

    void start(uint64_t start_ns);  // CLOCK_MONOTONIC
    // To be called often. False: the user wants the trace to end.
    bool work(uint64_t now_ns, const Look& look);
    void end();  // the terminal is as it was, and what was kept is shown
    CapturedOutput& output() { return output_; }

private:
    LiveScreen(std::string title, std::optional<std::chrono::nanoseconds> every, UniqueFd terminal,
               CapturedOutput output);
    bool take_keys(bool& changed);
    void draw();
    void begin_colors();
    int attributes(terminal::LiveView::Style style) const;

    static constexpr std::chrono::nanoseconds kEvery = std::chrono::seconds(1);
    static constexpr uint64_t kFirstNs = 200'000'000;

    UniqueFd terminal_;
    std::FILE* stream_ = nullptr;  // the terminal, for ncurses
    struct screen* screen_ = nullptr;
    std::optional<TerminalGuard> guard_;
    CapturedOutput output_;
    terminal::LiveView view_;
    uint64_t every_ns_, start_ns_ = 0, next_ns_ = 0;
    bool has_colors_ = false;
};

}  // namespace mlbcc::terminal
