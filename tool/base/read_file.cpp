#include "base/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/unique_fd.h"

namespace mlbcc {

namespace {

constexpr size_t kFirst = size_t{16} * 1024;  // bytes, where a file does not say its size

Error too_large(const std::string& path, std::string_view size, size_t max_bytes) {
    return Error{fmt::format("{} is too large: {} bytes, the limit is {}", path, size, max_bytes)};
}

// `size`: what it has, if that is known. Up to one byte more than the limit is read: that byte
// tells a file of the limit from a larger one. Nor does a text keep more memory than it needs: many
// are.
Result<std::string> read_to_end(int fd, const std::string& path, size_t size, size_t max_bytes) {
    std::string text;
    size_t used = 0;
    while (used <= max_bytes) {
        if (used == text.size()) {
            const size_t room = used == 0 ? (size != 0 ? size + 1 : kFirst) : 2 * used;
            text.resize(std::min(room, max_bytes + 1));
        }
        ssize_t n;
        do {
            n = ::read(fd, text.data() + used, text.size() - used);
        } while (n < 0 && errno == EINTR);
        if (n < 0) return system_error("cannot read " + path);
        used += static_cast<size_t>(n);
        if (n > 0) continue;
        text.resize(used);
        if (used < text.capacity() / 2) text.shrink_to_fit();
        return text;
    }
    return too_large(path, fmt::format("more than {}", max_bytes), max_bytes);
}

}  // namespace

Result<std::string> read_file(const std::string& path, size_t max_bytes) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return system_error("cannot open " + path);
    return read_file(fd.get(), path, max_bytes);
}

Result<std::string> read_file(int fd, const std::string& path, size_t max_bytes) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return system_error("cannot read " + path);
    if (S_ISDIR(status.st_mode)) return Error{path + " is a directory, not a file"};
    off_t size = S_ISREG(status.st_mode) ? status.st_size : 0;
    size -= std::min(size, std::max<off_t>(0, ::lseek(fd, 0, SEEK_CUR)));
    const auto bytes = static_cast<size_t>(size);
    if (bytes > max_bytes) return too_large(path, std::to_string(bytes), max_bytes);
    return read_to_end(fd, path, bytes, max_bytes);
}

}  // namespace mlbcc
