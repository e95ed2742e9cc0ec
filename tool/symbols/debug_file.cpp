#include "symbols/debug_file.h"

#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open_file.h"

namespace mlbcc::symbols {
namespace {

std::string_view bytes_of(Elf_Data* data) {
    if (data == nullptr || data->d_buf == nullptr) return {};
    return {static_cast<const char*>(data->d_buf), data->d_size};
}

}  // namespace

std::string build_id_of(::Elf* elf) {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_NOTE) continue;
        std::string id = read_build_id(bytes_of(elf_rawdata(section, nullptr)));
        if (!id.empty()) return id;
    }
    return {};
}

std::string_view section_bytes(::Elf* elf, std::string_view name) {
    size_t names = 0;
    if (elf_getshdrstrndx(elf, &names) != 0) return {};
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_PROGBITS) continue;
        const char* own = elf_strptr(elf, names, header.sh_name);
        if (own != nullptr && name == own) return bytes_of(elf_rawdata(section, nullptr));
    }
    return {};
}

std::optional<DebugLink> debug_link_of(::Elf* elf) {
    return read_debug_link(section_bytes(elf, kDebugLinkSection));
}

UniqueFd open_debug_file(::Elf* stripped, int fd, const DebugPlaces& places) {
    struct stat own {};
    if (::fstat(fd, &own) != 0) return {};
    const std::string build_id = build_id_of(stripped);
    const std::optional<DebugLink> link = debug_link_of(stripped);
    for (const std::string& path : debug_files(build_id, link, places)) {
        Result<UniqueFd> found = open_file(path);
        struct stat status {};
        if (!found || ::fstat(found->get(), &status) != 0 || is_same_file(status, own)) continue;
        ElfPtr elf(elf_begin(found->get(), ELF_C_READ, nullptr));
        if (!elf || elf_kind(elf.get()) != ELF_K_ELF) continue;
        const bool belongs = build_id.empty() ? link && has_crc(found->get(), link->crc)
                                              : build_id_of(elf.get()) == build_id;
        if (belongs) return std::move(*found);
    }
    return {};
}

}  // namespace mlbcc::symbols
