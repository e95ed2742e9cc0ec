// An ELF file as a tracer needs it: which machine it is for, the name it goes by, and the functions
// that can be traced, by their place in the file. Any bytes are safe input.
#pragma once

#include <optional>
#include <string>

#include "base/debug_files.h"
#include "base/result.h"
#include "target/target.h"

namespace mlbcc::elf {

// "x86_64", "aarch64", "i386", ...; nullopt if the file cannot be read or is no ELF program or
// shared library.
std::optional<std::string> elf_machine(const std::string& path);

// DT_SONAME, where the file has one.
std::optional<std::string> elf_soname(const std::string& path);
std::optional<std::string> elf_soname(int file);  // of an open one; opens nothing

// What target::Host::symbols() says, with what was stripped off the file (base/debug_files.h). Left
// out besides IFUNCs: code that no call enters (the entry point, `.cold` parts, the loader's
// resolver, the return from a signal). A return probe there would overwrite what is no return
// address. Without functions where the file is for another kind of machine than 64-bit x86 or ARM.
Result<target::Symbols> read_symbols(const std::string& path,
                                     const std::string& debug_root = kDebugRoot);

}  // namespace mlbcc::elf
