// Standard output and standard error of this process, kept in memory while it lives: clang, LLVM,
// libbcc and libbpf write their messages there and nowhere else. For the whole process, so nothing
// else may write meanwhile.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mlbcc::compiler {

class OutputCapture {
public:
    static Result<OutputCapture> start();
    OutputCapture(OutputCapture&&) = default;
    OutputCapture& operator=(OutputCapture&&) = delete;
    ~OutputCapture() { stop(); }

    std::string text() const;  // all that was written until now
    void stop();               // gives the streams back; text() stays

private:
    OutputCapture(UniqueFd memory, UniqueFd out, UniqueFd err)
        : memory_(std::move(memory)), out_(std::move(out)), err_(std::move(err)) {}
    UniqueFd memory_, out_, err_;  // out_, err_: the real streams
};

}  // namespace mlbcc::compiler
