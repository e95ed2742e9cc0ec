// One line at the bottom of a terminal that others write to at the same time. What they write
// scrolls above it, in the part of the terminal that is left to them (DECSTBM: ECMA-48's successor
// in VT100 and all that are like it), so that neither overwrites the other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/unique_fd.h"

namespace mlbcc::terminal {

class StatusLine {
public:
    // Null where `fd` is no terminal, or TERM says that it knows no such sequences.
    static std::unique_ptr<StatusLine> open(int fd);
    ~StatusLine() { remove(); }
    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;

    // Does not wait for a terminal that takes nothing. Shows nothing in the background, on a
    // terminal of few lines, and while a program has it to itself (one that edits lines or fills
    // the screen).
    void show(const std::string& text);
    void remove();  // the terminal is as it was

private:
    StatusLine(int fd, UniqueFd own) : fd_(fd), own_(std::move(own)) {}
    bool is_free() const;

    int fd_;
    UniqueFd own_;       // the same terminal, opened so that writing does not wait
    uint16_t rows_ = 0;  // the terminal's, while the line is there
};

}  // namespace mlbcc::terminal
