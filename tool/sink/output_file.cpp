#include "sink/output_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/create_file.h"

namespace mlbcc::sink {
namespace {

// A pipe that does not block is waited for.
bool can_go_on(int fd) {
    if (errno == EINTR) return true;
    if (errno != EAGAIN) return false;
    pollfd wait{fd, POLLOUT, 0};
    return ::poll(&wait, 1, -1) >= 0 || errno == EINTR;
}

// Opened by its name a file would be written from its beginning, and a socket not at all.
std::optional<int> descriptor_of(std::string_view path) {
    constexpr std::string_view kFolder = "/dev/fd/";
    if (path == "-") return STDOUT_FILENO;
    if (!path.starts_with(kFolder)) return {};
    path.remove_prefix(kFolder.size());
    int fd = -1;
    const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), fd);
    if (error != std::errc() || end != path.data() + path.size() || fd < 0) return {};
    return fd;
}

std::string help_for(int code, const char* option) {
    switch (code) {
    case ENOSPC:
    case EDQUOT: return fmt::format("make room, or write elsewhere with `{}`", option);
    case ENOENT:
        return fmt::format("create the folder first, or write elsewhere with `{}`", option);
    default: return help_for_created(code);
    }
}

}  // namespace

Result<OutputFile> OutputFile::open(const std::string& path, const char* option) {
    if (const std::optional<int> open_fd = descriptor_of(path)) {
        UniqueFd fd(::fcntl(*open_fd, F_DUPFD_CLOEXEC, 3));
        const std::string name = path == "-" ? "standard output" : path;
        if (!fd) return system_error("cannot write to " + name);
        return OutputFile(name, option, std::move(fd));
    }
    UniqueFd fd = create_file(path, 0644);
    if (!fd) return system_error("cannot create " + path, help_for(errno, option));
    return OutputFile(path, option, std::move(fd));
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
            return Error{"cannot write to " + name_, code, help_for(code, option_)};
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
