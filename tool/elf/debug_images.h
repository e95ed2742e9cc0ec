// The ELF files that have the symbols that were stripped off another.
#pragma once

#include <vector>

#include "base/debug_files.h"
#include "elf/elf_image.h"

namespace mlbcc::elf {

// Of the file at `path`, which may be one that a process sees ("/proc/70/root/usr/bin/app"): its
// debug file, where it has one, with the same build id or, without one, the CRC; and what is packed
// in it.
std::vector<ElfImage> debug_images(const ElfImage& stripped, const std::string& path,
                                   const std::string& debug_root = kDebugRoot);

}  // namespace mlbcc::elf
