// Which file an event of the rules is about: descriptors and paths are used again, and so is the
// inode of a file that was removed, for the next that is made.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "saved/event_fields.h"

namespace mlbcc::phases {

struct FileKey {
    uint64_t inode = 0, device = 0;
    uint64_t generation = 0;  // of the inode, which a file system chooses anew for each file
    bool operator==(const FileKey&) const = default;
    bool operator<(const FileKey& other) const {
        return std::tie(inode, device, generation) <
               std::tie(other.inode, other.device, other.generation);
    }

    // By the names that rules give them.
    static std::vector<std::string_view> keys() { return {"inode", "device", "generation"}; }
    static FileKey of(const std::vector<uint64_t>& values) {
        return {values[0], values[1], values[2]};
    }
    // Of an event that has("inode").
    static FileKey of(const saved::EventFields& one) {
        return {one.natural("inode"), one.natural("device"), one.natural("generation")};
    }
};

}  // namespace mlbcc::phases
