#include "compiler/capture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <iostream>

namespace mlbcc::compiler {

namespace {

void flush_streams() {
    std::cout.flush();
    std::fflush(stdout);
    std::fflush(stderr);
}

}  // namespace

Result<OutputCapture> OutputCapture::start() {
    flush_streams();
    UniqueFd memory(::memfd_create("mlbcc-messages", MFD_CLOEXEC));
    if (!memory) return system_error("cannot make a file in memory");
    UniqueFd out(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 4));
    UniqueFd err(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 4));
    OutputCapture capture(std::move(memory), std::move(out), std::move(err));
    for (int stream : {STDOUT_FILENO, STDERR_FILENO}) {
        if (::dup2(capture.memory_.get(), stream) < 0) {
            return system_error("cannot redirect standard error");
        }
    }
    return capture;
}

std::string OutputCapture::text() const {
    flush_streams();
    struct stat status {};
    if (!memory_ || ::fstat(memory_.get(), &status) != 0) return {};
    std::string text(static_cast<size_t>(status.st_size), '\0');
    ssize_t n = ::pread(memory_.get(), text.data(), text.size(), 0);
    text.resize(n < 0 ? 0 : static_cast<size_t>(n));
    return text;
}

void OutputCapture::stop() {
    flush_streams();
    if (out_) ::dup2(out_.get(), STDOUT_FILENO);
    if (err_) ::dup2(err_.get(), STDERR_FILENO);
    out_.reset();
    err_.reset();
}

}  // namespace mlbcc::compiler
