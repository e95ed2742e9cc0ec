// Standard output and error, where they are the terminal, kept in a file while a screen fills the
// terminal: the tracer's own and, as it inherits them, the command's. Nothing of it is lost: it is
// shown when the screen is gone, and the file stays where the tracer is killed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mlbcc::terminal {

class CapturedOutput {
public:
    // Standard input, where it is the terminal, becomes empty: keys are the screen's.
    static Result<CapturedOutput> begin();
    CapturedOutput(CapturedOutput&&) = default;
    ~CapturedOutput();

    std::vector<std::string> last_lines() const;
    void give_back();  // the streams are as they were; what was kept is shown
    void show_rest();  // what came since
    // Somebody may still write to the file: it stays.
    void leave_file() { leaves_file_ = true; }
    const std::string& path() const { return path_; }

private:
    CapturedOutput() = default;

    std::string path_;
    UniqueFd file_;
    UniqueFd streams_[3];  // as they were; none where it was no terminal
    int64_t shown_ = 0;
    bool leaves_file_ = false, is_given_back_ = false;
};

}  // namespace mlbcc::terminal
