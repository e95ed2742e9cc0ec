// A file that only ever gets whole lines: "-" is standard output, "/dev/fd/N" what N is. Where a
// write fails half-way (a full disk) the file is cut back to its last whole line, if it is a
// regular file, and nothing more is written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mlbcc::sink {

class OutputFile {
public:
    // Creates or empties `path`, which was given by `option`.
    static Result<OutputFile> open(const std::string& path, const char* option = "-o FILE");
    OutputFile(OutputFile&& other) noexcept = default;

    // Writes `lines`, which end in a newline. After a failure every call fails.
    Result<void> write(std::string_view lines);
    bool failed() const { return failed_; }

private:
    OutputFile(std::string name, const char* option, UniqueFd fd)
        : name_(std::move(name)), option_(option), fd_(std::move(fd)) {}
    void cut_back(size_t bytes) const;

    std::string name_;
    const char* option_;
    UniqueFd fd_;
    bool failed_ = false;
};

}  // namespace mlbcc::sink
