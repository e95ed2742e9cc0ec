#include "files/trusted_files.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <deque>
#include <filesystem>
#include <vector>

#include "base/as_caller.h"
#include "base/read_file.h"
#include "files/paths.h"

namespace mlbcc::files {

namespace {

namespace fs = std::filesystem;

constexpr const char* kAcl = "system.posix_acl_access";

std::string user_name(uid_t uid) {
    const passwd* entry = ::getpwuid(uid);
    return entry != nullptr ? fmt::format("`{}`", entry->pw_name) : fmt::format("user {}", uid);
}

std::string group_name(gid_t gid) {
    const group* entry = ::getgrgid(gid);
    return entry != nullptr ? fmt::format("`{}`", entry->gr_name) : fmt::format("{}", gid);
}

Error refusal(const std::string& reason, std::string help) {
    return Error{reason + ", and mlbcc runs with more rights than its caller", 0, std::move(help)};
}

Error with_help(Error error) {
    if (error.code == EACCES && error.help.empty()) error.help = help_for_denied();
    return error;
}

// "/a//b/./c" -> "a", "b", "c"; ".." stays.
void push_front(std::deque<std::string>& names, const std::string& path) {
    std::vector<std::string> parts;
    for (const fs::path& part : fs::path(path)) {
        if (part != "/" && part != "." && !part.empty()) parts.push_back(part.string());
    }
    names.insert(names.begin(), parts.begin(), parts.end());
}

}  // namespace

TrustedFiles TrustedFiles::current() {
    return TrustedFiles(exceeded_caller());
}

// A group may be one person's own, as many systems have it.
bool TrustedFiles::others_are_in(gid_t gid) const {
    auto is_trusted = [this](uid_t uid) { return uid == 0 || uid == *caller_; };
    const group* entry = ::getgrgid(gid);
    for (char** name = entry == nullptr ? nullptr : entry->gr_mem;
         name != nullptr && *name != nullptr; ++name) {
        const passwd* member = ::getpwnam(*name);
        if (member == nullptr || !is_trusted(member->pw_uid)) return true;
    }
    bool others = entry == nullptr;
    ::setpwent();
    while (const passwd* one = ::getpwent()) {
        others |= one->pw_gid == gid && !is_trusted(one->pw_uid);
    }
    ::endpwent();
    return others;
}

Result<void> TrustedFiles::admit_one(const struct stat& status, const std::string& path) const {
    if (status.st_uid != 0 && status.st_uid != *caller_) {
        return refusal(fmt::format("{} belongs to {}", path, user_name(status.st_uid)),
                       fmt::format("chown root {}, or use a copy of your own", path));
    }
    const bool is_sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
    if (S_ISLNK(status.st_mode) || is_sticky) return {};
    const std::string help = fmt::format("chmod go-w {}", path);
    if ((status.st_mode & S_IWOTH) != 0)
        return refusal(fmt::format("everybody may write to {}", path), help);
    if ((status.st_mode & S_IWGRP) == 0) return {};
    if (::getxattr(path.c_str(), kAcl, nullptr, 0) > 0)
        return refusal(fmt::format("an ACL lets others write to {}", path), help);
    if (!others_are_in(status.st_gid)) return {};
    return refusal(fmt::format("the group {} may write to {}", group_name(status.st_gid), path),
                   help);
}

// What the caller may not see is not told of.
Result<void> TrustedFiles::admit(const std::string& path) const {
    if (!caller_) return {};
    const Result<AsCaller> as_caller = AsCaller::begin();
    if (!as_caller) return as_caller.error();
    std::error_code code;
    std::deque<std::string> names;
    push_front(names, fs::absolute(path, code).string());
    std::string at = "/";
    struct stat status {};
    if (::lstat("/", &status) != 0) return system_error("cannot stat /");
    if (auto done = admit_one(status, at); !done) return done;
    for (int links = 0; !names.empty();) {
        const std::string name = std::move(names.front());
        names.pop_front();
        if (name == "..") {
            at = fs::path(at).parent_path().string();
            continue;
        }
        std::string next = (fs::path(at) / name).string();
        if (::lstat(next.c_str(), &status) != 0)
            return with_help(system_error("cannot stat " + next));
        if (auto done = admit_one(status, next); !done) return done;
        if (!S_ISLNK(status.st_mode)) {
            at = std::move(next);
            continue;
        }
        const std::optional<std::string> target = link_target(next);
        if (!target || ++links > kMaxLinks) return Error{next + " leads nowhere"};
        // /proc/self/fd/63 -> "pipe:[4711]": there is no such path, only the pipe.
        const bool is_path = target->starts_with('/') ||
                             fs::exists(fs::symlink_status(fs::path(at) / *target, code));
        if (!is_path)
            return ::stat(next.c_str(), &status) == 0 ? admit_one(status, next)
                                                      : system_error("cannot open " + next);
        if (target->starts_with('/')) at.assign(1, '/');
        push_front(names, *target);
    }
    return {};
}

Result<void> TrustedFiles::admit_tree(const std::string& folder) const {
    if (!caller_) return {};
    std::error_code code;
    for (const auto& entry : fs::recursive_directory_iterator(folder, code)) {
        if (auto done = admit(entry.path().string()); !done) return done;
    }
    return {};
}

Result<std::string> TrustedFiles::read(const std::string& path, size_t max_bytes) const {
    const Result<AsCaller> as_caller = AsCaller::begin();
    if (!as_caller) return as_caller.error();
    if (auto done = admit(path); !done) return done.error();
    Result<std::string> text = read_file(path, max_bytes);
    return text ? std::move(text) : with_help(text.error());
}

}  // namespace mlbcc::files
