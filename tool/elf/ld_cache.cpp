#include "elf/ld_cache.h"

#include <cstring>
#include <optional>

namespace mlbcc::elf {

namespace {

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr std::string_view kOldMagic = "ld.so-1.7.0";

struct Header {  // struct cache_file_new
    char magic[20];
    uint32_t library_count;
    uint32_t strings_size;
    uint8_t flags, padding[3];
    uint32_t extension_offset;
    uint32_t unused[3];
};
static_assert(sizeof(Header) == 48);

struct Entry {  // struct file_entry_new
    int32_t flags;
    uint32_t soname, path;  // from the header's beginning, bytes
    uint32_t os_version;
    uint64_t hwcap;
};
static_assert(sizeof(Entry) == 24);

struct OldHeader {  // struct cache_file; entries of 12 bytes follow
    char magic[11];
    uint32_t library_count;
};
static_assert(sizeof(OldHeader) == 16);
constexpr size_t kOldEntrySize = 12;

// FLAG_ELF_LIBC6 with FLAG_X8664_LIB64 or FLAG_AARCH64_LIB64.
std::optional<int32_t> flags_of(std::string_view machine) {
    if (machine == "x86_64") return 0x0303;
    if (machine == "aarch64") return 0x0a03;
    return std::nullopt;
}

template <class T> std::optional<T> read_at(std::string_view bytes, size_t offset) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

std::optional<std::string_view> cached_text(std::string_view bytes, size_t offset) {
    if (offset >= bytes.size()) return std::nullopt;
    const size_t end = bytes.find('\0', offset);
    if (end == std::string_view::npos) return std::nullopt;
    return bytes.substr(offset, end - offset);
}

// An old cache may precede the new one, which begins at a multiple of 8 behind it.
std::string_view without_old_cache(std::string_view bytes) {
    const auto old = read_at<OldHeader>(bytes, 0);
    if (!old || !bytes.starts_with(kOldMagic)) return bytes;
    const uint64_t end = sizeof(OldHeader) + uint64_t{old->library_count} * kOldEntrySize;
    const uint64_t begin = (end + 7) / 8 * 8;
    return begin < bytes.size() ? bytes.substr(begin) : std::string_view();
}

}  // namespace

Result<std::vector<CachedLibrary>> parse_ld_cache(std::string_view bytes,
                                                  std::string_view machine) {
    bytes = without_old_cache(bytes);
    const auto header = read_at<Header>(bytes, 0);
    if (!header || !bytes.starts_with(kMagic)) {
        return Error{"the loader's cache is not in the format glibc-ld.so.cache1.1", 0,
                     "run `ldconfig`"};
    }
    std::vector<CachedLibrary> libraries;
    const std::optional<int32_t> flags = flags_of(machine);
    for (uint32_t i = 0; flags && i < header->library_count; i++) {
        const auto entry = read_at<Entry>(bytes, sizeof(Header) + size_t{i} * sizeof(Entry));
        if (!entry) break;
        if (entry->flags != *flags) continue;
        const auto soname = cached_text(bytes, entry->soname),
                   path = cached_text(bytes, entry->path);
        if (!soname || !path || !path->starts_with('/')) continue;
        libraries.push_back({std::string(*soname), std::string(*path), entry->hwcap});
    }
    return libraries;
}

}  // namespace mlbcc::elf
