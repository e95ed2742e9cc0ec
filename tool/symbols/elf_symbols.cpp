#include "symbols/elf_symbols.h"

#include <algorithm>
#include <cstring>

#include <gelf.h>

#include "text/cxx_names.h"
#include "text/rust_names.h"

namespace mlbcc::symbols {
namespace {

// Of several names for one function the one that people know: malloc, not __libc_malloc.
uint32_t rank_of(const GElf_Sym& symbol, std::string_view name) {
    auto underscores = static_cast<uint32_t>(std::min(name.find_first_not_of('_'), name.size()));
    uint32_t local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL ? 1 : 0;
    return local << 24 | std::min(underscores, 255u) << 16 |
           std::min<uint32_t>(static_cast<uint32_t>(name.size()), 0xffff);
}

bool is_function(const GElf_Sym& symbol) {
    int type = GELF_ST_TYPE(symbol.st_info);
    return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF;
}

std::string read_soname(::Elf* elf, const GElf_Shdr& header, Elf_Data* data) {
    if (header.sh_entsize == 0) return {};
    for (int i = 0; i < static_cast<int>(header.sh_size / header.sh_entsize); ++i) {
        GElf_Dyn entry;
        if (gelf_getdyn(data, i, &entry) == nullptr || entry.d_tag == DT_NULL) break;
        if (entry.d_tag != DT_SONAME) continue;
        const char* name = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
        return name == nullptr ? "" : name;
    }
    return {};
}

}  // namespace

std::optional<ElfSymbols> ElfSymbols::read(int fd, const DebugPlaces& places) {
    elf_version(EV_CURRENT);
    ElfPtr elf(elf_begin(fd, ELF_C_READ, nullptr));
    ElfSymbols symbols;
    if (!elf || !symbols.add_file(elf.get())) return std::nullopt;
    // These have the .symtab that was stripped off.
    if (auto packed = unpack_debug_data(section_bytes(elf.get(), kDebugDataSection))) {
        ElfPtr other(elf_memory(packed->data(), packed->size()));
        if (other) symbols.add_sections(other.get());
    }
    if (UniqueFd debug = open_debug_file(elf.get(), fd, places)) {
        ElfPtr other(elf_begin(debug.get(), ELF_C_READ, nullptr));
        if (other) symbols.add_sections(other.get());
    }
    symbols.sort();
    return symbols;
}

std::optional<ElfSymbols> ElfSymbols::read(std::span<const std::byte> image) {
    elf_version(EV_CURRENT);
    std::vector<std::byte> copy(image.begin(), image.end());  // libelf wants it writable
    ElfPtr elf(elf_memory(reinterpret_cast<char*>(copy.data()), copy.size()));
    ElfSymbols symbols;
    if (!elf || !symbols.add_file(elf.get())) return std::nullopt;
    symbols.sort();
    return symbols;
}

bool ElfSymbols::add_file(::Elf* elf) {
    if (elf_kind(elf) != ELF_K_ELF) return false;
    add_segments(elf);
    add_sections(elf);
    return true;
}

void ElfSymbols::add_segments(::Elf* elf) {
    size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0) return;
    for (size_t i = 0; i < count; ++i) {
        GElf_Phdr segment;
        if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) break;
        if (segment.p_type != PT_LOAD) continue;
        segments_.push_back({segment.p_offset, segment.p_filesz, segment.p_vaddr});
    }
}

void ElfSymbols::add_sections(::Elf* elf) {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
        if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) {
            add_symbols(elf, elf_ndxscn(section));
        }
        if (header.sh_type != SHT_DYNAMIC || !soname_.empty()) continue;
        if (Elf_Data* data = elf_getdata(section, nullptr))
            soname_ = read_soname(elf, header, data);
    }
}

void ElfSymbols::add_symbols(::Elf* elf, size_t index) {
    Elf_Scn* section = elf_getscn(elf, index);
    GElf_Shdr header;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0)
        return;
    for (int i = 0; i < static_cast<int>(header.sh_size / header.sh_entsize); ++i) {
        GElf_Sym symbol;
        if (gelf_getsym(data, i, &symbol) == nullptr) break;
        if (!is_function(symbol)) continue;
        const char* text = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (text == nullptr || *text == '\0') continue;
        std::string_view name = std::string_view(text).substr(0, std::strcspn(text, "@"));
        symbols_.push_back({symbol.st_value, symbol.st_size, static_cast<uint32_t>(names_.size()),
                            rank_of(symbol, name)});
        names_.append(name).push_back('\0');
    }
}

void ElfSymbols::sort() {
    std::ranges::sort(symbols_, [](const Symbol& a, const Symbol& b) {
        return a.start != b.start ? a.start < b.start : a.rank < b.rank;
    });
    auto same = [](const Symbol& a, const Symbol& b) { return a.start == b.start; };
    symbols_.erase(std::unique(symbols_.begin(), symbols_.end(), same), symbols_.end());
    symbols_.shrink_to_fit();
    names_.shrink_to_fit();
}

std::optional<uint64_t> ElfSymbols::address_of(uint64_t offset) const {
    for (const Segment& segment : segments_) {
        if (offset >= segment.offset && offset - segment.offset < segment.size) {
            return offset - segment.offset + segment.address;
        }
    }
    return std::nullopt;
}

bool ElfSymbols::has(uint64_t address) const {
    return std::ranges::any_of(segments_, [address](const Segment& segment) {
        return address >= segment.address && address - segment.address < segment.size;
    });
}

// A function of unknown size reaches to the next one. Local symbols may lie inside a larger
// function, so a few symbols before the nearest one are tried.
std::optional<ElfSymbols::Hit> ElfSymbols::find(uint64_t address) const {
    constexpr int kTries = 8;
    auto at = std::ranges::upper_bound(symbols_, address, {}, &Symbol::start);
    for (int tries = 0; tries < kTries && at != symbols_.begin(); ++tries) {
        --at;
        bool unsized = at->size == 0 && tries == 0 && has(address);
        if (unsized || address - at->start < at->size) {
            return Hit{names_.c_str() + at->name, at->start};
        }
    }
    return std::nullopt;
}

std::string demangled(std::string_view name) {
    if (auto rust = rust_name(name)) return *rust;
    return demangled_cxx(name).value_or(std::string(name));
}

}  // namespace mlbcc::symbols
