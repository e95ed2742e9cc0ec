// Paths as a process sees them: below its own root, symbolic links followed there and not in ours.
//
//   canonical_path("/proc/12/root", "/usr/lib/libx.so") -> "/proc/12/root/usr/lib/libx.so.1.2"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlbcc::files {

// `name` as seen from `directory`: itself where it is absolute.
std::string join_path(std::string_view directory, std::string_view name);
std::string_view file_name(std::string_view path);
std::string working_folder();  // our own; "" where it has been removed

// `root` and what `path` (absolute) comes to below it, without links and dots; nullopt if there is
// no such file. `root` is "" for our own.
std::optional<std::string> canonical_path(const std::string& root, std::string_view path);

// The files below `root` that a glob (absolute) matches, canonical, in alphabetical order of their
// names. Wildcards do not match a leading dot.
std::vector<std::string> expand_glob(const std::string& root, std::string_view pattern);

inline constexpr int kMaxLinks = 40;  // that a path may lead through: the kernel's MAXSYMLINKS
std::optional<std::string> link_target(const std::string& path);  // nullopt where it is no link

struct FileId {
    uint64_t device = 0, inode = 0;
    bool operator==(const FileId&) const = default;
    bool operator<(const FileId& other) const {
        return device != other.device ? device < other.device : inode < other.inode;
    }
};
std::optional<FileId> file_id(const std::string& path);  // nullopt if it cannot be seen

}  // namespace mlbcc::files
