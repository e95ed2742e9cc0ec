// The code that a process has mapped: which file, and where in it, an address belongs to.
//
//   7f1c3a200000-7f1c3a3a5000 r-xp 00022000 fe:00 1311 /usr/lib/x86_64-linux-gnu/libc.so.6
//   7f1c3a5f0000-7f1c3a600000 rwxp 00000000 00:00 0                      (code made at run time)
//   7ffd1a5e8000-7ffd1a5ea000 r-xp 00000000 00:00 0    [vdso]
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/process_maps.h"

namespace mlbcc::symbols {

struct Module;

struct CodeMapping : Mapping {
    Module* module = nullptr;  // found when it is first needed
};

// The executable mappings in a maps file's text, by address.
std::vector<CodeMapping> code_mappings(std::string_view text);

// The mapping of `address` in a list sorted by address, or null.
const CodeMapping* find_mapping(const std::vector<CodeMapping>& maps, uint64_t address);
CodeMapping* find_mapping(std::vector<CodeMapping>& maps, uint64_t address);

}  // namespace mlbcc::symbols
