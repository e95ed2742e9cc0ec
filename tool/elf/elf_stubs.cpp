#include "elf/elf_stubs.h"

#include <cstring>
#include <string_view>
#include <vector>

namespace mlbcc::elf {
namespace {

constexpr size_t kMaxStub = 16;

// `jmpq *where(%rip)`, maybe behind `endbr64`, at `address` -> the address that it reads.
std::optional<uint64_t> slot_of(std::string_view code, uint64_t address) {
    size_t at = code.starts_with("\xf3\x0f\x1e\xfa") ? 4 : 0;
    if (code.substr(at).starts_with('\xf2')) ++at;  // bnd
    if (!code.substr(at).starts_with("\xff\x25") || code.size() < at + 6) return std::nullopt;
    int32_t distance = 0;
    std::memcpy(&distance, code.data() + at + 2, sizeof distance);
    return address + at + 6 + static_cast<uint64_t>(int64_t{distance});
}

void add_functions(const ElfImage& image, const std::vector<Elf64_Shdr>& sections,
                   const Elf64_Shdr& relocations, std::unordered_map<uint64_t, uint64_t>& to) {
    const std::string entries = image.contents(relocations);
    const std::vector<Elf64_Sym> symbols = image.symbols(sections[relocations.sh_link]);
    for (size_t i = 0; i + sizeof(Elf64_Rela) <= entries.size(); i += sizeof(Elf64_Rela)) {
        Elf64_Rela one;
        std::memcpy(&one, entries.data() + i, sizeof one);
        const uint64_t kind = ELF64_R_TYPE(one.r_info), number = ELF64_R_SYM(one.r_info);
        if (kind != R_X86_64_JUMP_SLOT && kind != R_X86_64_GLOB_DAT) continue;
        if (one.r_addend != 0 || number >= symbols.size()) continue;
        const Elf64_Sym& symbol = symbols[number];
        if (symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
            to.emplace(one.r_offset, symbol.st_value);
    }
}

}  // namespace

Stubs::File Stubs::read(const std::string& path) {
    File file;
    auto image = ElfImage::open(path);
    if (!image || !image->is_supported() || image->machine() != "x86_64") return file;
    const auto sections = image->sections();
    if (!sections) return file;
    for (const Elf64_Shdr& section : *sections) {
        if (section.sh_type == SHT_RELA && section.sh_link < sections->size())
            add_functions(*image, *sections, section, file.functions);
    }
    file.image.emplace(std::move(*image));
    return file;
}

std::optional<uint64_t> Stubs::behind(const std::string& path, uint64_t offset) {
    auto [known, is_new] = files_.try_emplace(path);
    File& file = known->second;
    if (is_new) file = read(path);
    const auto address = file.image ? file.image->address_of(offset, PF_X) : std::nullopt;
    if (!address) return std::nullopt;
    Elf64_Shdr stub{};
    stub.sh_offset = offset;
    stub.sh_size = kMaxStub;
    const auto slot = slot_of(file.image->contents(stub), *address);
    const auto function = slot ? file.functions.find(*slot) : file.functions.end();
    if (function == file.functions.end()) return std::nullopt;
    return file.image->file_offset(function->second, PF_X);
}

}  // namespace mlbcc::elf
