#include "files/disk_space.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>

namespace mlbcc::files {

Result<DiskSpace> disk_space(const std::string& folder) {
    std::error_code code;
    std::filesystem::path path = std::filesystem::absolute(folder, code).lexically_normal();
    while (!std::filesystem::exists(path, code) && path.has_relative_path()) {
        path = path.parent_path();
    }
    struct statvfs status {};
    if (::statvfs(path.c_str(), &status) != 0)
        return system_error("cannot read the free space of " + folder);
    return DiskSpace{path.string(), uint64_t{status.f_bavail} * status.f_frsize,
                     ::access(path.c_str(), W_OK) == 0};
}

}  // namespace mlbcc::files
