#include "system/elf_stubs.h"

#include <cstring>
#include <string_view>

#include "system/elf_image.h"

namespace mlbcc::system {
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

// The symbol whose address the loader puts there.
std::optional<Elf64_Sym> symbol_in(const ElfImage& image, uint64_t slot) {
    const auto sections = image.sections();
    if (!sections) return std::nullopt;
    for (const Elf64_Shdr& section : *sections) {
        if (section.sh_type != SHT_RELA || section.sh_link >= sections->size()) continue;
        const std::string entries = image.contents(section);
        for (size_t i = 0; i + sizeof(Elf64_Rela) <= entries.size(); i += sizeof(Elf64_Rela)) {
            Elf64_Rela one;
            std::memcpy(&one, entries.data() + i, sizeof one);
            const uint64_t kind = ELF64_R_TYPE(one.r_info);
            if (one.r_offset != slot || one.r_addend != 0) continue;
            if (kind != R_X86_64_JUMP_SLOT && kind != R_X86_64_GLOB_DAT) continue;
            const auto symbols = image.symbols((*sections)[section.sh_link]);
            const uint64_t number = ELF64_R_SYM(one.r_info);
            if (number < symbols.size()) return symbols[number];
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<uint64_t> behind_stub(const std::string& path, uint64_t offset) {
    const auto image = ElfImage::open(path);
    if (!image || !image->is_supported() || image->machine() != "x86_64") return std::nullopt;
    const auto address = image->address_of(offset, PF_X);
    Elf64_Shdr stub{};
    stub.sh_offset = offset;
    stub.sh_size = kMaxStub;
    const auto slot = address ? slot_of(image->contents(stub), *address) : std::nullopt;
    const auto symbol = slot ? symbol_in(*image, *slot) : std::nullopt;
    if (!symbol || symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC)
        return std::nullopt;
    return image->file_offset(symbol->st_value, PF_X);
}

}  // namespace mlbcc::system
