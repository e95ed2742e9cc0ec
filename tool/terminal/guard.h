// A process of its own that puts a terminal in order where the tracer, which fills it, was killed.
#pragma once

#include <string>

#include "base/unique_fd.h"

namespace mlbcc::terminal {

class TerminalGuard {
public:
    // `terminal` is as it is to be; `leave` is what makes it show the usual screen. To be made
    // while the tracer has its capabilities: the guard takes CAP_SYS_NICE to be first, and gives up
    // all of them.
    TerminalGuard(int terminal, const std::string& leave);
    void begin();      // from here on the terminal is filled
    ~TerminalGuard();  // the terminal is in order
    TerminalGuard(const TerminalGuard&) = delete;
    TerminalGuard& operator=(const TerminalGuard&) = delete;

private:
    void tell(char what) const;

    UniqueFd alive_;
    int pid_ = -1;
};

}  // namespace mlbcc::terminal
