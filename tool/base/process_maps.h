// /proc/PID/maps as data: what a process has mapped.
//
//   7f0e1000-7f0e2000 r-xp 00001000 fe:00 5150   /usr/lib/libx.so (deleted)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlbcc {

struct Mapping {
    uint64_t start = 0, end = 0;  // addresses, end exclusive
    uint64_t offset = 0;          // of `start` in the file, bytes
    uint64_t inode = 0;           // 0: no file
    uint32_t device_major = 0, device_minor = 0;
    std::string path;  // "" or "[heap]" where there is no file
    bool executable = false;
    bool deleted = false;  // " (deleted)" is taken off `path`

    bool is_file() const { return inode != 0; }
};

// In the order of the text. Lines that are no mapping are skipped.
std::vector<Mapping> parse_maps(std::string_view text);

// Whether a file that is open is the one mapped: by inode and device. What a mapping says of the
// device is not always what stat() says of the file (overlay, btrfs): then it is mapped to see.
bool is_mapped_from(int fd, const Mapping& mapping);

}  // namespace mlbcc
