// The files that processes run code from, each read once: a mapping -> its name, functions and call
// frame information.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/unique_fd.h"
#include "symbols/cfi.h"
#include "symbols/elf_symbols.h"
#include "symbols/held_roots.h"
#include "symbols/mappings.h"

namespace mlbcc::symbols {

struct Module {
    std::string name;  // its soname, or the last part of its path
    std::optional<ElfSymbols> symbols;
    std::unique_ptr<Cfi> cfi;
    bool was_read = false;
};

struct SymbolRoots {
    std::string proc = "/proc";
    std::string debug = kDebugRoot;
    uint64_t epoch_ns = 0;  // of the records' clock: when it was 0, since 1970
    uint32_t user = 0;      // whose processes they most probably are that nobody has looked at
};

class Modules {
public:
    explicit Modules(SymbolRoots roots) : roots_(std::move(roots)), held_(roots_.proc) {}

    // The module of a mapping of process `pid`. It stays where it is.
    Module& of(uint32_t pid, CodeMapping& mapping);
    const SymbolRoots& roots() const { return roots_; }
    HeldRoots& held_roots() { return held_; }
    std::string proc_path(uint32_t pid, const char* name) const;  // "/proc/70/maps"

private:
    void read(Module& module, uint32_t pid, const Mapping& mapping) const;
    UniqueFd open(uint32_t pid, const Mapping& mapping) const;

    SymbolRoots roots_;
    HeldRoots held_;
    std::unordered_map<std::string, std::unique_ptr<Module>> modules_;  // by device, inode, path
};

}  // namespace mlbcc::symbols
