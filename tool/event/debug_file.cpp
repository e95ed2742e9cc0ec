#include "event/debug_file.h"

#include <array>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mlbcc::event {
namespace {

// More of a file is not read for a CRC: events wait meanwhile.
constexpr size_t kMaxCrcBytes = 256 << 20;

std::string hexadecimal(const unsigned char* bytes, size_t count) {
    std::string out;
    for (size_t i = 0; i < count; ++i) out += fmt::format("{:02x}", bytes[i]);
    return out;
}

std::string build_id_in(Elf_Data* data) {
    GElf_Nhdr note;
    size_t name_at, description_at;
    for (size_t at = 0; (at = gelf_getnote(data, at, &note, &name_at, &description_at)) > 0;) {
        const auto* bytes = static_cast<const unsigned char*>(data->d_buf);
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4) continue;
        if (std::memcmp(bytes + name_at, "GNU", 4) != 0) continue;
        return hexadecimal(bytes + description_at, note.n_descsz);
    }
    return {};
}

std::vector<std::string> candidates(const std::string& build_id,
                                    const std::optional<DebugLink>& link,
                                    const DebugPlaces& places) {
    std::vector<std::string> out;
    bool has_root = !places.root.empty();
    for (const std::string& system : places.systems) {
        if (!has_root || build_id.size() < 4) break;
        out.push_back(fmt::format("{}{}/.build-id/{}/{}.debug", system, places.root,
                                  build_id.substr(0, 2), build_id.substr(2)));
    }
    for (const std::string& system : places.systems) {
        if (!link || places.folder.empty()) break;
        std::string beside = system + places.folder;
        out.push_back(fmt::format("{}/{}", beside, link->name));
        out.push_back(fmt::format("{}/.debug/{}", beside, link->name));
        if (!has_root) continue;
        out.push_back(fmt::format("{}{}{}/{}", system, places.root, places.folder, link->name));
    }
    return out;
}

bool has_crc(int fd, uint32_t wanted) {
    std::vector<unsigned char> block(256 << 10);
    uint32_t crc = 0;
    size_t done = 0;
    for (ssize_t n; (n = ::pread(fd, block.data(), block.size(), static_cast<off_t>(done))) > 0;) {
        crc = crc32(crc, block.data(), static_cast<size_t>(n));
        done += static_cast<size_t>(n);
        if (done > kMaxCrcBytes) return false;
    }
    return crc == wanted;
}

bool same_file(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace

std::string build_id_of(::Elf* elf) {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_NOTE) continue;
        Elf_Data* data = elf_getdata(section, nullptr);
        std::string id = data == nullptr ? "" : build_id_in(data);
        if (!id.empty()) return id;
    }
    return {};
}

// "app.debug", zeros up to a multiple of 4, the CRC.
std::optional<DebugLink> debug_link_of(::Elf* elf) {
    size_t names = 0;
    if (elf_getshdrstrndx(elf, &names) != 0) return std::nullopt;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_PROGBITS) continue;
        const char* name = elf_strptr(elf, names, header.sh_name);
        if (name == nullptr || std::strcmp(name, ".gnu_debuglink") != 0) continue;
        Elf_Data* data = elf_rawdata(section, nullptr);
        if (data == nullptr || data->d_buf == nullptr || data->d_size < 8) return std::nullopt;
        std::string_view bytes(static_cast<const char*>(data->d_buf), data->d_size);
        DebugLink link{std::string(bytes.substr(0, bytes.find('\0')))};
        std::memcpy(&link.crc, bytes.data() + bytes.size() / 4 * 4 - 4, sizeof link.crc);
        if (link.name.empty() || link.name.find('/') != std::string::npos) return std::nullopt;
        return link;
    }
    return std::nullopt;
}

UniqueFd open_debug_file(::Elf* stripped, int fd, const DebugPlaces& places) {
    struct stat own {};
    if (::fstat(fd, &own) != 0) return {};
    std::string build_id = build_id_of(stripped);
    std::optional<DebugLink> link = debug_link_of(stripped);
    for (const std::string& path : candidates(build_id, link, places)) {
        UniqueFd found(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
        struct stat status {};
        bool is_file = found && ::fstat(found.get(), &status) == 0 && S_ISREG(status.st_mode);
        if (!is_file || same_file(status, own)) continue;
        ElfPtr elf(elf_begin(found.get(), ELF_C_READ, nullptr));
        if (!elf || elf_kind(elf.get()) != ELF_K_ELF) continue;
        bool belongs = build_id.empty() ? link && has_crc(found.get(), link->crc)
                                        : build_id_of(elf.get()) == build_id;
        if (belongs) return found;
    }
    return {};
}

uint32_t crc32(uint32_t crc, const unsigned char* bytes, size_t count) {
    static constexpr auto kTable = [] {
        std::array<uint32_t, 256> table{};
        for (uint32_t i = 0; i < 256; ++i) {
            uint32_t value = i;
            for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
            table[i] = value;
        }
        return table;
    }();
    crc = ~crc;
    for (size_t i = 0; i < count; ++i) crc = crc >> 8 ^ kTable[(crc ^ bytes[i]) & 0xff];
    return ~crc;
}

}  // namespace mlbcc::event
