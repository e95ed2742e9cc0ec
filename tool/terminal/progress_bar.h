// How far a long read has come, on standard error.
#pragma once

#include <chrono>

#include "saved/saved_trace.h"
#include "text/tell.h"

namespace mlbcc::terminal {

// Draws a bar while it lives, if standard error is a terminal and the read takes longer than a
// moment.
class ProgressBar {
public:
    explicit ProgressBar(Verbosity verbosity);
    ~ProgressBar() { end(); }
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    saved::ReadProgress progress();  // valid while the bar lives
    void end();                      // before something else is written

private:
    void show(uint64_t done, std::optional<uint64_t> size);

    bool wanted_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Tells what the reading of `file` had to leave out.
void tell_unread(const saved::ReadLines& read, const std::string& file, Verbosity verbosity);

}  // namespace mlbcc::terminal
