// What a profiled job is at, while it runs: on a line of the terminal, or for the live view.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "event/event.h"
#include "profile/progress.h"
#include "terminal/status_line.h"

namespace mlbcc::terminal {

class LiveProgress {
public:
    enum class Where { nowhere, line, screen };
    // Null where nobody would see it: nowhere, or on a line where standard error is no terminal.
    // `start_ns`: when the trace began, CLOCK_MONOTONIC.
    static std::unique_ptr<LiveProgress>
    open(Where where, std::optional<std::chrono::nanoseconds> every, uint64_t start_ns);
    void event(const event::Event& event);
    void work(uint64_t now_ns);  // to be called often; CLOCK_MONOTONIC
    std::string facts(uint64_t now_ns) { return progress_.facts(now_ns - start_ns_); }

private:
    LiveProgress(std::unique_ptr<StatusLine> line, uint64_t start_ns, uint64_t every_ns)
        : line_(std::move(line)), start_ns_(start_ns), every_ns_(every_ns),
          next_ns_(start_ns + 4 * every_ns) {}  // shorter jobs have none
    static constexpr std::chrono::nanoseconds kEvery = std::chrono::milliseconds(250);

    std::unique_ptr<StatusLine> line_;  // null under a live view
    uint64_t start_ns_, every_ns_, next_ns_;
    saved::FieldsReader reader_;
    profile::Progress progress_;
};

}  // namespace mlbcc::terminal
