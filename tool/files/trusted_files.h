// Files that say what the tracer does: rules, headers, templates. Where it has more rights than its
// caller (sudo, a set-user-ID program, capabilities of the file), they must be such that nobody but
// root and the caller could have written or replaced them:
//
//   /home/me/my.rules  rw-rw-rw-  ->  "everybody may write to /home/me/my.rules", "chmod go-w ..."
//   /srv/shared        rwxrwxrwx  ->  likewise, for all files below it
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"

namespace mlbcc::files {

class TrustedFiles {
public:
    // `caller`: whose rights are exceeded; nullopt: nobody's, and all files are trusted.
    explicit TrustedFiles(std::optional<uid_t> caller) : caller_(caller) {}
    static TrustedFiles current();

    bool asks() const { return caller_.has_value(); }  // whether some file may be refused
    // The file itself, each folder on the way to it, and links on the way and their folders. What
    // has a sticky bit, as /tmp, may be everybody's: only the owner replaces a file there.
    Result<void> admit(const std::string& path) const;
    Result<void> admit_tree(const std::string& folder) const;  // each file below it
    // The text of a file that is admitted, and that the caller may read; otherwise as read_file().
    Result<std::string> read(const std::string& path, size_t max_bytes) const;

private:
    Result<void> admit_one(const struct stat& status, const std::string& path) const;
    bool others_are_in(gid_t group) const;

    std::optional<uid_t> caller_;
};

}  // namespace mlbcc::files
