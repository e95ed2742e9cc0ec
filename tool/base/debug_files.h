// Where what was stripped off an ELF file is: in the file that distributions install for it, by its
// build id or the .gnu_debuglink in it, or in itself, packed (.gnu_debugdata).
//
//   /usr/lib/debug/.build-id/ab/cdef0123.debug
//   /usr/bin/app.debug, /usr/bin/.debug/app.debug, /usr/lib/debug/usr/bin/app.debug
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlbcc {

inline constexpr const char* kDebugRoot = "/usr/lib/debug";  // with .build-id/ below it
inline constexpr const char *kDebugLinkSection = ".gnu_debuglink",
                            *kDebugDataSection = ".gnu_debugdata";

struct DebugPlaces {
    std::string root;                  // kDebugRoot; "": nowhere
    std::string folder;                // of the stripped file: "/usr/bin"; "": not known
    std::vector<std::string> systems;  // where both are looked for: "/proc/70/root", ""
};

struct DebugLink {
    std::string name;  // of a file
    uint32_t crc = 0;  // CRC-32 of all of it
};
// Of the section's bytes; nullopt where they are none.
std::optional<DebugLink> read_debug_link(std::string_view section);

// Hexadecimal, of the bytes of a section of notes; "" where it is not in them.
std::string read_build_id(std::string_view notes);

// Files that may be the one, in the order of preference.
std::vector<std::string> debug_files(const std::string& build_id,
                                     const std::optional<DebugLink>& link,
                                     const DebugPlaces& places);

// Whether all of the file has this CRC-32; false, too, of one of more than 256 MiB.
bool has_crc(int file, uint32_t wanted);

// An ELF file that has the symbols, of .gnu_debugdata's bytes (xz). Nullopt where they are none, or
// it has more than 256 MiB.
std::optional<std::string> unpack_debug_data(std::string_view section);

}  // namespace mlbcc
