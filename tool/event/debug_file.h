// What was stripped off an ELF file: its build id or the .gnu_debuglink in it -> the file that
// distributions install for it, or that lies beside it.
//
//   /usr/lib/debug/.build-id/ab/cdef0123.debug
//   /usr/bin/app.debug, /usr/bin/.debug/app.debug, /usr/lib/debug/usr/bin/app.debug
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <libelf.h>

#include "base/unique_fd.h"

namespace mlbcc::event {

struct ElfCloser {
    void operator()(::Elf* elf) const { elf_end(elf); }
};
using ElfPtr = std::unique_ptr<::Elf, ElfCloser>;

struct DebugPlaces {
    std::string root;                  // "/usr/lib/debug"; "": nowhere
    std::string folder;                // of the stripped file: "/usr/bin"; "": not known
    std::vector<std::string> systems;  // where both are looked for: "/proc/70/root", ""
};

struct DebugLink {
    std::string name;  // of a file
    uint32_t crc = 0;  // CRC-32 of all of it
};

std::string build_id_of(::Elf* elf);  // hexadecimal, or ""
std::optional<DebugLink> debug_link_of(::Elf* elf);

// The debug file of `stripped`, which is open as `fd`; none if there is none that belongs to it:
// with the same build id or, where it has none, the CRC.
UniqueFd open_debug_file(::Elf* stripped, int fd, const DebugPlaces& places);

uint32_t crc32(uint32_t crc, const unsigned char* bytes, size_t count);  // as in zlib

}  // namespace mlbcc::event
