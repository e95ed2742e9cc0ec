#include "base/process_maps.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <utility>

#include "base/fields.h"
#include "base/read_file.h"

namespace mlbcc {
namespace {

constexpr size_t kMaxOwnMaps = 64 << 20;             // bytes
constexpr std::string_view kNewline = "\\012";       // in a path
constexpr std::string_view kDeleted = " (deleted)";  // behind a path

// A new line in a path is written as \012; nothing else is.
std::string unescape(std::string_view path) {
    std::string text;
    while (true) {
        const size_t at = std::min(path.find(kNewline), path.size());
        text.append(path.substr(0, at));
        if (at == path.size()) return text;
        text.push_back('\n');
        path.remove_prefix(at + kNewline.size());
    }
}

void set_path(Mapping& mapping, std::string_view path) {
    path.remove_prefix(std::min(path.find_first_not_of(' '), path.size()));
    mapping.deleted = mapping.is_file() && path.ends_with(kDeleted);
    if (mapping.deleted) path.remove_suffix(kDeleted.size());
    mapping.path = unescape(path);
}

std::optional<Mapping> parse_mapping(std::string_view line) {
    const auto start = to_number<uint64_t>(take_until(line, '-'), 16);
    const auto end = to_number<uint64_t>(take_until(line, ' '), 16);
    const std::string_view permissions = take_until(line, ' ');
    const auto offset = to_number<uint64_t>(take_until(line, ' '), 16);
    const auto major = to_number<uint32_t>(take_until(line, ':'), 16);
    const auto minor = to_number<uint32_t>(take_until(line, ' '), 16);
    const auto inode = to_number<uint64_t>(take_until(line, ' '));
    if (!start || !end || permissions.size() < 3 || !offset || !major || !minor || !inode) {
        return std::nullopt;
    }
    Mapping mapping;
    mapping.start = *start;
    mapping.end = *end;
    mapping.offset = *offset;
    mapping.inode = *inode;
    mapping.device_major = *major;
    mapping.device_minor = *minor;
    mapping.executable = permissions[2] == 'x';
    set_path(mapping, line);
    return mapping;
}

// What our own maps say of the file, mapped for a moment.
std::optional<Mapping> when_mapped(int fd) {
    void* at = ::mmap(nullptr, 1, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) return std::nullopt;
    const Result<std::string> text = read_file("/proc/self/maps", kMaxOwnMaps);
    ::munmap(at, 1);
    if (!text) return std::nullopt;
    const auto address = reinterpret_cast<uintptr_t>(at);
    for (Mapping& mapping : parse_maps(*text)) {
        if (mapping.start <= address && address < mapping.end) return std::move(mapping);
    }
    return std::nullopt;
}

}  // namespace

std::vector<Mapping> parse_maps(std::string_view text) {
    std::vector<Mapping> mappings;
    while (!text.empty()) {
        if (auto mapping = parse_mapping(take_until(text, '\n'))) {
            mappings.push_back(std::move(*mapping));
        }
    }
    return mappings;
}

bool is_mapped_from(int fd, const Mapping& mapping) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return false;
    const dev_t device = ::makedev(mapping.device_major, mapping.device_minor);
    if (status.st_ino == mapping.inode && status.st_dev == device) return true;
    const std::optional<Mapping> own = when_mapped(fd);
    return own && own->inode == mapping.inode && own->device_major == mapping.device_major &&
           own->device_minor == mapping.device_minor;
}

}  // namespace mlbcc
