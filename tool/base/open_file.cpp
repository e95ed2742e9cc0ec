#include "base/open_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>

namespace mlbcc {
namespace {

constexpr int kTries = 8;  // where something is renamed meanwhile
constexpr std::string_view kProc = "/proc/", kRoot = "/root/", kOwn = "/proc/self/fd/";

bool is_number(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "/proc/12/root/usr/lib/libx.so" -> the length of "/proc/12/root".
std::optional<size_t> length_of_root(std::string_view path) {
    if (!path.starts_with(kProc)) return std::nullopt;
    const size_t end = path.find('/', kProc.size());
    if (end == std::string_view::npos || !path.substr(end).starts_with(kRoot)) return std::nullopt;
    if (!is_number(path.substr(kProc.size(), end - kProc.size()))) return std::nullopt;
    return end + kRoot.size() - 1;
}

// Links lead nowhere but below `root`; those of /proc, which lead anywhere, are not followed.
UniqueFd look_below(int root, const std::string& path, Links links) {
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC | (links == Links::refuse ? O_NOFOLLOW : 0);
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    for (int tries = 0; tries < kTries; ++tries) {
        const long fd = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
        if (fd >= 0) return UniqueFd(static_cast<int>(fd));
        if (errno != EAGAIN && errno != EINTR) break;
    }
    return {};
}

// A descriptor of a file opened with O_PATH -> one that reads. Who holds a lease is not waited for.
Result<UniqueFd> opened(const UniqueFd& looked, const std::string& name) {
    if (!looked) return system_error("cannot open " + name);
    struct stat status {};
    if (::fstat(looked.get(), &status) != 0) return system_error("cannot stat " + name);
    if (S_ISDIR(status.st_mode)) return Error{name + " is a directory"};
    if (!S_ISREG(status.st_mode)) return Error{name + " is not a regular file"};
    const std::string own = fmt::format("{}{}", kOwn, looked.get());
    UniqueFd fd(::open(own.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) return system_error("cannot open " + name);
    return fd;
}

}  // namespace

bool is_same_file(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

UniqueFd look_at(const std::string& path) {
    const std::optional<size_t> root = length_of_root(path);
    if (!root) return UniqueFd(::open(path.c_str(), O_PATH | O_CLOEXEC));
    const UniqueFd folder(::open(path.substr(0, *root).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return folder ? look_below(folder.get(), path.substr(*root), Links::follow) : UniqueFd();
}

HeldPath::HeldPath(const std::string& path) : reached_(path) {
    if (!length_of_root(path)) return;
    file_ = look_at(path);
    reached_ = fmt::format("{}{}", kOwn, file_.get());
}

Result<UniqueFd> open_file(const std::string& path) {
    const std::string_view text = path;
    if (text.starts_with(kOwn) && is_number(text.substr(kOwn.size()))) {
        UniqueFd fd(::fcntl(std::stoi(path.substr(kOwn.size())), F_DUPFD_CLOEXEC, 0));
        if (!fd) return system_error("cannot open " + path);
        return fd;
    }
    return opened(look_at(path), path);
}

Result<UniqueFd> open_file_below(int root, const std::string& path, Links links) {
    return opened(look_below(root, path, links), path);
}

}  // namespace mlbcc
