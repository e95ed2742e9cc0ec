#include "sink/output_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace mlbcc::sink {
namespace {

// A pipe that does not block is waited for.
bool can_go_on(int fd) {
    if (errno == EINTR) return true;
    if (errno != EAGAIN) return false;
    pollfd wait{fd, POLLOUT, 0};
    return ::poll(&wait, 1, -1) >= 0 || errno == EINTR;
}

std::string help_for(int code) {
    switch (code) {
    case ENOSPC:
    case EDQUOT: return "make room, or write elsewhere with `-o FILE`";
    case ENOENT: return "create the folder first, or write elsewhere with `-o FILE`";
    default: return {};
    }
}

}  // namespace

Result<OutputFile> OutputFile::open(const std::string& path) {
    if (path == "-") {
        UniqueFd fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
        if (!fd) return system_error("cannot write to standard output");
        return OutputFile("standard output", std::move(fd));
    }
    UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!fd) return system_error("cannot create " + path, help_for(errno));
    return OutputFile(path, std::move(fd));
}

Result<void> OutputFile::write(std::string_view lines) {
    if (failed_) return Error{"cannot write to " + name_, 0, {}};
    size_t done = 0;
    while (done < lines.size()) {
        ssize_t written = ::write(fd_.get(), lines.data() + done, lines.size() - done);
        if (written < 0 && can_go_on(fd_.get())) continue;
        if (written < 0) {
            int code = errno;
            failed_ = true;
            cut_back(done - (lines.substr(0, done).rfind('\n') + 1));
            return Error{"cannot write to " + name_, code, help_for(code)};
        }
        done += static_cast<size_t>(written);
    }
    return {};
}

// Takes the last `bytes` that were written off the end; leaves alone what another process wrote
// behind them.
void OutputFile::cut_back(size_t bytes) const {
    struct stat status {};
    if (bytes == 0 || ::fstat(fd_.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    off_t end = ::lseek(fd_.get(), 0, SEEK_CUR);
    if (end != status.st_size) return;
    off_t whole = end - static_cast<off_t>(bytes);
    if (::ftruncate(fd_.get(), whole) == 0) ::lseek(fd_.get(), whole, SEEK_SET);
}

}  // namespace mlbcc::sink
