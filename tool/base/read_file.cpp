#include "base/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/unique_fd.h"

namespace mlbcc {

namespace {

constexpr size_t kChunk = size_t{64} * 1024;  // bytes of one read

Error too_large(const std::string& path, std::string_view size, size_t max_bytes) {
    return Error{fmt::format("{} is too large: {} bytes, the limit is {}", path, size, max_bytes)};
}

// Up to one byte more than the limit: that byte tells a file of the limit from a larger one.
Result<std::string> read_to_end(int fd, const std::string& path, size_t max_bytes) {
    std::string text;
    while (text.size() <= max_bytes) {
        size_t old_size = text.size();
        text.resize(old_size + std::min(kChunk, max_bytes + 1 - old_size));
        ssize_t n;
        do {
            n = ::read(fd, text.data() + old_size, text.size() - old_size);
        } while (n < 0 && errno == EINTR);
        if (n < 0) return system_error("cannot read " + path);
        text.resize(old_size + static_cast<size_t>(n));
        if (n == 0) return text;
    }
    return too_large(path, fmt::format("more than {}", max_bytes), max_bytes);
}

}  // namespace

Result<std::string> read_file(const std::string& path, size_t max_bytes) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return system_error("cannot open " + path);
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return system_error("cannot read " + path);
    if (S_ISDIR(status.st_mode)) return Error{path + " is a directory, not a file"};
    if (S_ISREG(status.st_mode) && static_cast<size_t>(status.st_size) > max_bytes) {
        return too_large(path, std::to_string(status.st_size), max_bytes);
    }
    return read_to_end(fd.get(), path, max_bytes);
}

}  // namespace mlbcc
