// The tables of an ELF file, read with every offset and size checked against the file. Nothing is
// mapped, so a file that shrinks meanwhile does no harm.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mlbcc::elf {

class ElfImage {
public:
    // Errors: cannot be opened, not a regular file, not ELF, neither program nor shared library.
    static Result<ElfImage> open(const std::string& path);
    // The same of a file that is open; `path` is for messages.
    static Result<ElfImage> read(UniqueFd file, const std::string& path);

    const std::string& machine() const { return machine_; }  // "x86_64", "aarch64", "i386", ...
    // 64-bit and little-endian: the tables below can be read.
    bool is_supported() const { return supported_; }
    uint64_t entry_point() const { return header_.e_entry; }
    size_t section_names() const { return header_.e_shstrndx; }  // the section that has them

    int descriptor() const { return file_.get(); }

    Result<std::vector<Elf64_Shdr>> sections() const;
    // Symbols of a SHT_DYNSYM or SHT_SYMTAB section, and the text of the section it links to. Empty
    // where the section lies.
    std::vector<Elf64_Sym> symbols(const Elf64_Shdr& section) const;
    std::string text(const Elf64_Shdr& section) const;
    std::string contents(const Elf64_Shdr& section) const;  // of any that is in the file

    // Where in the file a virtual address is; nullopt if it is in no segment with `flags` (PF_X).
    std::optional<uint64_t> file_offset(uint64_t address, uint32_t flags = 0) const;
    // Likewise, the virtual address of what is at `offset`.
    std::optional<uint64_t> address_of(uint64_t offset, uint32_t flags = 0) const;
    std::optional<std::string> soname() const;

private:
    ElfImage() = default;
    Result<void> read_header();
    void read_segments();
    bool contains(uint64_t offset, uint64_t size) const;
    template <class T> std::vector<T> read_array(uint64_t offset, uint64_t count) const;

    std::string path_;
    UniqueFd file_;
    uint64_t size_ = 0;  // of the file, bytes
    std::string machine_;
    bool supported_ = false;
    Elf64_Ehdr header_{};
    std::vector<Elf64_Phdr> segments_;
};

}  // namespace mlbcc::elf
