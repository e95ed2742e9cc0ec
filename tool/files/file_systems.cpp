#include "files/file_systems.h"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>

#include "files/paths.h"

namespace mlbcc::files {

namespace {

constexpr std::array<std::string_view, 22> kKinds{
    "bcachefs", "btrfs", "erofs", "exfat",   "ext2",  "ext3",     "ext4",   "f2fs",
    "iso9660",  "jfs",   "ntfs3", "overlay", "ramfs", "reiserfs", "rootfs", "squashfs",
    "tmpfs",    "ubifs", "udf",   "vfat",    "xfs",   "zfs"};

// "/my\040disk" -> "/my disk": blanks and backslashes are written in octal.
std::string unescaped(std::string_view text) {
    std::string plain;
    for (size_t i = 0; i < text.size(); ++i) {
        const auto is_digit = [&](size_t at) { return text[at] >= '0' && text[at] <= '7'; };
        if (text[i] == '\\' && i + 3 < text.size() && is_digit(i + 1) && is_digit(i + 2) &&
            is_digit(i + 3)) {
            plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                       (text[i + 3] - '0'));
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

bool has_option(std::string_view options, std::string_view option) {
    const std::string within = "," + std::string(options) + ",";
    return within.find("," + std::string(option) + ",") != std::string::npos;
}

// ID PARENT DEVICE ROOT FOLDER OPTIONS [TAG]... - KIND SOURCE OPTIONS
std::optional<Mount> program_mount(const std::string& line) {
    std::istringstream words(line);
    std::string id, parent, device, root, folder, options, word, kind;
    words >> id >> parent >> device >> root >> folder >> options;
    while (words >> word && word != "-") {
    }
    if (!(words >> kind) || std::ranges::find(kKinds, kind) == kKinds.end()) return std::nullopt;
    if (has_option(options, "noexec") || file_name(folder) == "dev") return std::nullopt;
    return Mount{std::move(device), unescaped(folder)};
}

}  // namespace

std::vector<Mount> program_mounts(std::string_view mountinfo) {
    std::vector<Mount> mounts;
    std::istringstream lines{std::string(mountinfo)};
    for (std::string line; std::getline(lines, line);) {
        if (auto mount = program_mount(line)) mounts.push_back(std::move(*mount));
    }
    return mounts;
}

}  // namespace mlbcc::files
