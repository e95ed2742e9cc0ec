// The debug file of an ELF file that libelf reads, and what is packed in it (base/debug_files.h).
#pragma once

#include <libelf.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/debug_files.h"
#include "base/unique_fd.h"

namespace mlbcc::symbols {

struct ElfCloser {
    void operator()(::Elf* elf) const { elf_end(elf); }
};
using ElfPtr = std::unique_ptr<::Elf, ElfCloser>;

std::string build_id_of(::Elf* elf);  // hexadecimal, or ""
std::optional<DebugLink> debug_link_of(::Elf* elf);
std::string_view section_bytes(::Elf* elf, std::string_view name);  // as they are in the file

// The debug file of `stripped`, which is open as `fd`; none if there is none that belongs to it:
// with the same build id or, where it has none, the CRC.
UniqueFd open_debug_file(::Elf* stripped, int fd, const DebugPlaces& places);

}  // namespace mlbcc::symbols
