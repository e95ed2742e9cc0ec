// How much a file in a folder may still grow.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace mlbcc::files {

struct DiskSpace {
    std::string folder;       // the one asked for, or the nearest above it that exists
    uint64_t free_bytes = 0;  // for this user
    bool writable = false;
};
Result<DiskSpace> disk_space(const std::string& folder);

}  // namespace mlbcc::files
