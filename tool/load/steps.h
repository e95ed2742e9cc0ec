// How long each step of a start takes, for --verbose: "parse 0.4 ms".
#pragma once

#include <chrono>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>

#include "text/output.h"

namespace mlbcc::load {

class Steps {
public:
    explicit Steps(bool shown) : shown_(shown) {}

    // Ends the step that began at the last call (or at construction).
    void done(std::string_view name) {
        auto now = Clock::now();
        if (shown_) {
            print_error("mlbcc: {:<24} {:8.2f} ms   (at {:.2f} ms)\n", name, ms(now - last_),
                        ms(now - start_));
        }
        last_ = now;
    }
    void tell(std::string_view text) const {
        if (shown_) print_error("mlbcc: {}\n", text);
    }

private:
    using Clock = std::chrono::steady_clock;
    static double ms(Clock::duration d) {
        return std::chrono::duration<double, std::milli>(d).count();
    }
    bool shown_;
    Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace mlbcc::load
