#include "elf/elf_image.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>

#include "base/open_file.h"

namespace mlbcc::elf {

namespace {

constexpr std::string_view kLinkerScript = "/* GNU ld script";

std::string machine_name(uint16_t machine, bool is_64_bit) {
    switch (machine) {
    case EM_X86_64: return is_64_bit ? "x86_64" : "x32";
    case EM_AARCH64: return is_64_bit ? "aarch64" : "aarch64 (32-bit)";
    case EM_386: return "i386";
    case EM_ARM: return "arm";
    case EM_RISCV: return is_64_bit ? "riscv64" : "riscv32";
    case EM_PPC64: return "ppc64";
    case EM_S390: return "s390x";
    default: return fmt::format("ELF machine {}", machine);
    }
}

// As much of `size` bytes at `offset` as the file has.
size_t read_fully(int file, void* to, size_t size, uint64_t offset) {
    size_t done = 0;
    while (done < size) {
        const ssize_t got = pread(file, static_cast<char*>(to) + done, size - done,
                                  static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += static_cast<size_t>(got);
    }
    return done;
}

Error not_elf(const std::string& path, std::string_view beginning) {
    Error error{fmt::format("{} is not an ELF file", path), 0, {}};
    if (beginning.starts_with(kLinkerScript)) {
        error.help = "it is a linker script: give the file that it names";
    } else if (beginning.starts_with("#!")) {
        error.help = "it is a script: give the program that runs it";
    } else if (beginning.starts_with("!<arch>")) {
        error.help = "it is a static library: give the program that is linked with it";
    }
    return error;
}

Error not_loadable(const std::string& path, uint16_t type) {
    const char* kind = type == ET_REL ? "an object file" : type == ET_CORE ? "a core dump" : "";
    if (*kind == '\0') return Error{fmt::format("{} has an unknown ELF type", path), 0, {}};
    return Error{fmt::format("{} is {}, not a program or a shared library", path, kind), 0, {}};
}

}  // namespace

Result<ElfImage> ElfImage::open(const std::string& path) {
    Result<UniqueFd> file = open_file(path);
    if (!file) return file.error();
    return read(std::move(*file), path);
}

Result<ElfImage> ElfImage::read(UniqueFd file, const std::string& path) {
    ElfImage image;
    image.path_ = path;
    image.file_ = std::move(file);
    struct stat status;
    if (fstat(image.file_.get(), &status) != 0) {
        return system_error(fmt::format("cannot stat {}", path));
    }
    if (!S_ISREG(status.st_mode)) return Error{path + " is not a regular file"};
    image.size_ = static_cast<uint64_t>(status.st_size);
    if (Result<void> read = image.read_header(); !read) return read.error();
    if (image.supported_) image.read_segments();
    return image;
}

Result<void> ElfImage::read_header() {
    std::array<char, sizeof(Elf64_Ehdr)> bytes{};
    const size_t got = read_fully(file_.get(), bytes.data(), bytes.size(), 0);
    if (got < sizeof(Elf32_Ehdr) || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) {
        return not_elf(path_, std::string_view(bytes.data(), got));
    }
    const bool is_64_bit = bytes[EI_CLASS] == ELFCLASS64;
    const bool is_little = bytes[EI_DATA] == ELFDATA2LSB;
    std::memcpy(&header_, bytes.data(), sizeof header_);
    // e_type and e_machine are at the same place in 32-bit and 64-bit files.
    const auto ours = [&](uint16_t value) {
        return is_little ? value : static_cast<uint16_t>(value << 8 | value >> 8);
    };
    const uint16_t type = ours(header_.e_type);
    if (type != ET_EXEC && type != ET_DYN) return not_loadable(path_, type);
    machine_ = machine_name(ours(header_.e_machine), is_64_bit);
    if (!is_little) machine_ += " (big-endian)";
    supported_ = is_64_bit && is_little && got == sizeof header_;
    return {};
}

void ElfImage::read_segments() {
    if (header_.e_phentsize != sizeof(Elf64_Phdr)) return;
    segments_ = read_array<Elf64_Phdr>(header_.e_phoff, header_.e_phnum);
}

bool ElfImage::contains(uint64_t offset, uint64_t size) const {
    return offset <= size_ && size <= size_ - offset;
}

template <class T> std::vector<T> ElfImage::read_array(uint64_t offset, uint64_t count) const {
    if (count > size_ / sizeof(T) || !contains(offset, count * sizeof(T))) return {};
    std::vector<T> items(count);
    const size_t got = read_fully(file_.get(), items.data(), count * sizeof(T), offset);
    items.resize(got / sizeof(T));
    return items;
}

Result<std::vector<Elf64_Shdr>> ElfImage::sections() const {
    if (header_.e_shoff == 0 || header_.e_shentsize != sizeof(Elf64_Shdr)) {
        return Error{fmt::format("{} has no section table that names its functions", path_), 0, {}};
    }
    uint64_t count = header_.e_shnum;
    if (count == 0) {  // too many for the header: the first section says how many
        const auto first = read_array<Elf64_Shdr>(header_.e_shoff, 1);
        if (!first.empty()) count = first.front().sh_size;
    }
    auto sections = read_array<Elf64_Shdr>(header_.e_shoff, count);
    if (sections.empty()) {
        return Error{
            fmt::format("{} is cut off or broken: its section table is not in it", path_), 0, {}};
    }
    return sections;
}

std::vector<Elf64_Sym> ElfImage::symbols(const Elf64_Shdr& section) const {
    if (section.sh_entsize != sizeof(Elf64_Sym)) return {};
    return read_array<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
}

std::string ElfImage::text(const Elf64_Shdr& section) const {
    return section.sh_type == SHT_STRTAB ? contents(section) : std::string();
}

std::string ElfImage::contents(const Elf64_Shdr& section) const {
    std::string text;
    if (section.sh_type == SHT_NOBITS || !contains(section.sh_offset, section.sh_size)) return text;
    text.resize(section.sh_size);
    text.resize(read_fully(file_.get(), text.data(), text.size(), section.sh_offset));
    return text;
}

std::optional<uint64_t> ElfImage::file_offset(uint64_t address, uint32_t flags) const {
    for (const Elf64_Phdr& segment : segments_) {
        if (segment.p_type != PT_LOAD || (segment.p_flags & flags) != flags) continue;
        const uint64_t delta = address - segment.p_vaddr;  // huge where the address is below
        if (delta >= segment.p_filesz || !contains(segment.p_offset, delta + 1)) continue;
        return segment.p_offset + delta;
    }
    return std::nullopt;
}

std::optional<uint64_t> ElfImage::address_of(uint64_t offset, uint32_t flags) const {
    for (const Elf64_Phdr& segment : segments_) {
        if (segment.p_type != PT_LOAD || (segment.p_flags & flags) != flags) continue;
        // A mapping begins with the page that the segment begins in.
        const uint64_t begin = segment.p_offset & ~uint64_t{4095};
        if (offset < begin || offset - begin >= segment.p_filesz + (segment.p_offset - begin))
            continue;
        return segment.p_vaddr + (offset - segment.p_offset);
    }
    return std::nullopt;
}

std::optional<std::string> ElfImage::soname() const {
    std::optional<uint64_t> name, table;
    uint64_t table_size = 0;
    for (const Elf64_Phdr& segment : segments_) {
        if (segment.p_type != PT_DYNAMIC) continue;
        const auto entries =
            read_array<Elf64_Dyn>(segment.p_offset, segment.p_filesz / sizeof(Elf64_Dyn));
        for (const Elf64_Dyn& entry : entries) {
            if (entry.d_tag == DT_NULL) break;
            if (entry.d_tag == DT_SONAME) name = entry.d_un.d_val;
            if (entry.d_tag == DT_STRTAB) table = file_offset(entry.d_un.d_ptr);
            if (entry.d_tag == DT_STRSZ) table_size = entry.d_un.d_val;
        }
    }
    if (!name || !table || *name >= table_size) return std::nullopt;
    const auto bytes =
        read_array<char>(*table + *name, std::min<uint64_t>(table_size - *name, NAME_MAX + 1));
    const size_t length = strnlen(bytes.data(), bytes.size());
    if (length == 0 || length == bytes.size()) return std::nullopt;
    return std::string(bytes.data(), length);
}

}  // namespace mlbcc::elf
