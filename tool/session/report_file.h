// Where a report goes: its JSON to a file that an option names, its text to a descriptor of the
// caller's.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "session/options.h"
#include "sink/sink.h"

namespace mlbcc::session {

class ReportFile {
public:
    // Creates or empties it; "-" is standard output. Of "" there is none, and write() does nothing.
    static Result<ReportFile> create(const std::string& path);
    bool is_wanted() const { return static_cast<bool>(fd_); }
    Result<void> write(std::string_view json);

private:
    std::string path_;
    UniqueFd fd_;
};

// In colours, where `fd` is a terminal. `what` is what an error calls it: "the profile".
Result<void> write_report(int fd, std::string_view text, const char* what);

// The file of folded stacks. Its notes go to standard error, unless quiet. Errors: cannot create.
Result<std::unique_ptr<sink::Sink>> open_folded(const FoldedOptions& folded, Verbosity verbosity);

}  // namespace mlbcc::session
