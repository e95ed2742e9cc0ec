#include "elf/usdt.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include "elf/elf_image.h"

namespace mlbcc::elf {

namespace {

constexpr uint32_t kProbeNote = 3;  // NT_STAPSDT
constexpr std::string_view kOwner("stapsdt\0", 8);
constexpr size_t kNoteAlign = 4;  // bytes; in 64-bit files, too

// text() gives the bytes of any part of the file that is called a string table.
std::string bytes_at(const ElfImage& image, uint64_t offset, uint64_t size) {
    Elf64_Shdr part{};
    part.sh_type = SHT_STRTAB;
    part.sh_offset = offset;
    part.sh_size = size;
    return image.text(part);
}

// Removes `size` bytes and what fills them up to the alignment; false if there are fewer.
bool take(std::string_view& from, uint64_t size, std::string_view& taken) {
    const uint64_t padded = (size + kNoteAlign - 1) / kNoteAlign * kNoteAlign;
    if (size > from.size()) return false;
    taken = from.substr(0, size);
    from.remove_prefix(std::min<uint64_t>(padded, from.size()));
    return true;
}

std::optional<std::string_view> take_text(std::string_view& from) {
    const size_t end = from.find('\0');
    if (end == from.npos) return std::nullopt;
    const std::string_view text = from.substr(0, end);
    from.remove_prefix(end + 1);
    return text;
}

// What follows the head of a note:
//   u64 address of the probe, of .stapsdt.base, of the semaphore; "provider" "name" "arguments"
struct Note {
    uint64_t address = 0, base = 0, semaphore = 0;
    std::string_view provider, name, arguments;
};
std::optional<Note> parse_note(std::string_view description) {
    Note note;
    const size_t numbers = 3 * sizeof(uint64_t);
    if (description.size() < numbers) return std::nullopt;
    std::memcpy(&note.address, description.data(), 8);
    std::memcpy(&note.base, description.data() + 8, 8);
    std::memcpy(&note.semaphore, description.data() + 16, 8);
    description.remove_prefix(numbers);
    const auto provider = take_text(description), name = take_text(description),
               arguments = take_text(description);
    if (!provider || !name || !arguments || provider->empty() || name->empty()) {
        return std::nullopt;
    }
    note.provider = *provider;
    note.name = *name;
    note.arguments = *arguments;
    return note;
}

// Addresses of a file's symbols, looked up when an argument names one.
class SymbolAddresses {
public:
    SymbolAddresses(const ElfImage& image, const std::vector<Elf64_Shdr>& sections)
        : image_(image), sections_(sections) {}

    // Nothing where two of that name differ.
    std::optional<uint64_t> find(std::string_view name) {
        if (!read_) read();
        const auto known = addresses_.find(name);
        return known == addresses_.end() ? std::nullopt : known->second;
    }

private:
    void read() {
        read_ = true;
        for (const Elf64_Shdr& section : sections_) {
            const bool has_symbols = section.sh_type == SHT_DYNSYM || section.sh_type == SHT_SYMTAB;
            if (has_symbols && section.sh_link < sections_.size()) add_table(section);
        }
    }

    void add_table(const Elf64_Shdr& section) {
        const std::string names = image_.text(sections_[section.sh_link]);
        for (const Elf64_Sym& symbol : image_.symbols(section)) {
            const bool in_memory = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS &&
                                   ELF64_ST_TYPE(symbol.st_info) != STT_TLS;
            if (!in_memory || symbol.st_name >= names.size()) continue;
            const std::string_view rest = std::string_view(names).substr(symbol.st_name);
            const auto [known, is_new] = addresses_.try_emplace(
                std::string(rest.substr(0, rest.find('\0'))), symbol.st_value);
            if (!is_new && known->second != symbol.st_value) known->second.reset();
        }
    }

    const ElfImage& image_;
    const std::vector<Elf64_Shdr>& sections_;
    bool read_ = false;
    std::map<std::string, std::optional<uint64_t>, std::less<>> addresses_;
};

class Reader {
public:
    Reader(const ElfImage& image, const std::vector<Elf64_Shdr>& sections, UsdtProbes& found)
        : image_(image), sections_(sections), found_(found), symbols_(image, sections) {}

    void read() {
        base_ = find_base();
        for (const Elf64_Shdr& section : sections_) {
            if (section.sh_type == SHT_NOTE) read_notes(section);
        }
    }

private:
    // The address of .stapsdt.base as it is now. Prelinking moves it with the code, but leaves what
    // notes say alone: it is not loaded.
    std::optional<uint64_t> find_base() const {
        const std::string head = bytes_at(image_, 0, sizeof(Elf64_Ehdr));
        Elf64_Ehdr header{};
        if (head.size() != sizeof header) return std::nullopt;
        std::memcpy(&header, head.data(), sizeof header);
        const bool elsewhere = header.e_shstrndx == SHN_XINDEX && !sections_.empty();
        const size_t index = elsewhere ? sections_[0].sh_link : header.e_shstrndx;
        if (index >= sections_.size()) return std::nullopt;
        const std::string names = image_.text(sections_[index]);
        for (const Elf64_Shdr& section : sections_) {
            if (section.sh_name >= names.size()) continue;
            if (std::strcmp(names.c_str() + section.sh_name, ".stapsdt.base") == 0) {
                return section.sh_addr;
            }
        }
        return std::nullopt;
    }

    void read_notes(const Elf64_Shdr& section) {
        const std::string bytes = bytes_at(image_, section.sh_offset, section.sh_size);
        std::string_view rest = bytes;
        while (rest.size() >= sizeof(Elf64_Nhdr)) {
            Elf64_Nhdr head;
            std::memcpy(&head, rest.data(), sizeof head);
            rest.remove_prefix(sizeof head);
            std::string_view owner, description;
            if (!take(rest, head.n_namesz, owner)) break;
            const bool ours = owner == kOwner && head.n_type == kProbeNote;
            const bool whole = take(rest, head.n_descsz, description);
            if (ours && !(whole && add(description))) ++found_.broken;
            if (!whole) break;
        }
    }

    bool add(std::string_view description) {
        const auto note = parse_note(description);
        if (!note) return false;
        const uint64_t moved = base_ && note->base != 0 ? *base_ - note->base : 0;
        UsdtProbe probe;
        probe.address = note->address + moved;
        const auto offset = image_.file_offset(probe.address, PF_X);
        const auto semaphore = note->semaphore == 0
                                   ? std::optional<uint64_t>(0)
                                   : image_.file_offset(note->semaphore + moved, PF_W);
        if (!offset || !semaphore) return false;
        probe.offset = *offset;
        probe.semaphore = *semaphore;
        probe.provider = note->provider;
        probe.name = note->name;
        const auto distance = [&](std::string_view symbol) -> std::optional<int64_t> {
            const auto at = symbols_.find(symbol);
            return at ? std::optional(static_cast<int64_t>(*at - probe.address)) : std::nullopt;
        };
        probe.arguments = parse_usdt_arguments(note->arguments, image_.machine(), distance);
        found_.probes.push_back(std::move(probe));
        return true;
    }

    const ElfImage& image_;
    const std::vector<Elf64_Shdr>& sections_;
    UsdtProbes& found_;
    SymbolAddresses symbols_;
    std::optional<uint64_t> base_;
};

}  // namespace

Result<UsdtProbes> read_usdt(const std::string& path) {
    const Result<ElfImage> image = ElfImage::open(path);
    if (!image) return image.error();
    UsdtProbes found;
    found.machine = image->machine();
    if (found.machine != "x86_64" && found.machine != "aarch64") return found;
    const Result<std::vector<Elf64_Shdr>> sections = image->sections();
    if (!sections) return sections.error();
    Reader(*image, *sections, found).read();
    return found;
}

}  // namespace mlbcc::elf
