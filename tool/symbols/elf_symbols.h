// The functions of an ELF file: an offset in the file -> the function that is there, from .symtab
// and .dynsym, and from the separate debug file that its build id names, where that is installed.
// The file is read, never mapped: one that shrinks under a tracer must not kill it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/debug_file.h"

namespace mlbcc::symbols {

class ElfSymbols {
public:
    struct Hit {
        std::string_view name;  // as in the file: mangled, without "@@VERSION"
        uint64_t start = 0;     // address in the file's own terms
    };

    // Nullopt if it is no ELF file that can be read.
    static std::optional<ElfSymbols> read(int fd, const DebugPlaces& places);
    // Of an image in memory, such as the vdso; reads nothing behind `image`.
    static std::optional<ElfSymbols> read(std::span<const std::byte> image);

    // The address, in the file's own terms, of what lies at `offset`; nullopt outside its segments.
    std::optional<uint64_t> address_of(uint64_t offset) const;
    std::optional<Hit> find(uint64_t address) const;
    const std::string& soname() const { return soname_; }  // DT_SONAME, or ""
    size_t size() const { return symbols_.size(); }

private:
    struct Segment {
        uint64_t offset, size, address;
    };
    struct Symbol {
        uint64_t start, size;
        uint32_t name;  // into names_
        uint32_t rank;  // of several names for one place the lowest is shown
    };

    bool has(uint64_t address) const;
    bool add_file(::Elf* elf);
    void add_segments(::Elf* elf);
    void add_sections(::Elf* elf);
    void add_symbols(::Elf* elf, size_t section);
    void sort();

    std::vector<Segment> segments_;
    std::vector<Symbol> symbols_;  // by start, one a start
    std::string names_;            // each ends in a zero
    std::string soname_;
};

// Names of C++ and Rust as people write them: "_ZN3foo3barEi" -> "foo::bar(int)". Others as they
// are.
std::string demangled(std::string_view name);

}  // namespace mlbcc::symbols
