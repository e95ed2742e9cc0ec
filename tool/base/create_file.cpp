#include "base/create_file.h"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/as_caller.h"

namespace mlbcc {
namespace {

bool is_ours(const struct stat& status) {
    const auto user = static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1)));  // tells only
    return status.st_uid == 0 || status.st_uid == user || status.st_uid == ::geteuid();
}

// Whether only we, or root, put something there.
bool is_our_folder(int folder) {
    struct stat status {};
    return ::fstat(folder, &status) == 0 && is_ours(status) &&
           (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Not a pipe or device that another made there, nor another name of some file, whosoever's.
bool may_be_opened(int folder, const char* name) {
    struct stat status {};
    if (::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
    if (S_ISREG(status.st_mode) ? status.st_nlink == 1 : is_ours(status)) return true;
    errno = S_ISLNK(status.st_mode) ? ELOOP : EPERM;
    return false;
}

}  // namespace

UniqueFd create_file(const std::string& path, mode_t mode) {
    const Result<AsCaller> as_caller = AsCaller::begin();
    if (!as_caller) {
        errno = as_caller.error().code;
        return {};
    }
    const size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    const UniqueFd in(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!in) return {};
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY;
    if (is_our_folder(in.get())) return UniqueFd(::openat(in.get(), name.c_str(), kFlags, mode));
    if (!may_be_opened(in.get(), name.c_str())) return {};
    return UniqueFd(::openat(in.get(), name.c_str(), kFlags | O_NOFOLLOW, mode));
}

std::string help_for_created(int code) {
    switch (code) {
    case ELOOP: return "it is a link in a folder that others may write to: name the file itself";
    case EPERM:
        return "what is there is another's, or another name of a file, in a folder that others may "
               "write to: remove it first";
    case EACCES: return help_for_denied();
    default: return {};
    }
}

}  // namespace mlbcc
