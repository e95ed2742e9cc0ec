// What /proc/PID/maps says of a process's code: which file, and where in it, an address belongs to.
//
//   7f1c3a200000-7f1c3a3a5000 r-xp 00022000 fe:00 1311 /usr/lib/x86_64-linux-gnu/libc.so.6
//   7f1c3a5f0000-7f1c3a600000 rwxp 00000000 00:00 0                      (code made at run time)
//   7ffd1a5e8000-7ffd1a5ea000 r-xp 00000000 00:00 0    [vdso]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mlbcc::event {

struct Module;

struct Mapping {
    uint64_t start = 0, end = 0;  // addresses
    uint64_t offset = 0;          // of `start` in the file, bytes
    std::string device;           // "fe:00"
    uint64_t inode = 0;           // 0: no file
    std::string path;             // without " (deleted)"; "[vdso]"; "" for memory without a name
    bool deleted = false;
    Module* module = nullptr;  // found when it is first needed
    bool is_file() const { return inode != 0; }
};

// The executable mappings in a maps file's text, by address. Lines of another form are left out.
std::vector<Mapping> parse_maps(std::string_view text);

// The mapping of `address` in a list sorted by address, or null.
const Mapping* find_mapping(const std::vector<Mapping>& maps, uint64_t address);
Mapping* find_mapping(std::vector<Mapping>& maps, uint64_t address);

}  // namespace mlbcc::event
