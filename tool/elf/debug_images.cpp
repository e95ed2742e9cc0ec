#include "elf/debug_images.h"

#include <sys/mman.h>

#include <optional>

#include "base/write_all.h"
#include "files/paths.h"

namespace mlbcc::elf {
namespace {

struct Marks {
    std::string build_id;
    std::optional<DebugLink> link;
    std::string packed;  // .gnu_debugdata
};

Marks marks_of(const ElfImage& image) {
    Marks marks;
    const Result<std::vector<Elf64_Shdr>> sections = image.sections();
    if (!sections || image.section_names() >= sections->size()) return marks;
    const std::string names = image.text((*sections)[image.section_names()]);
    for (const Elf64_Shdr& section : *sections) {
        if (section.sh_type == SHT_NOTE && marks.build_id.empty())
            marks.build_id = read_build_id(image.contents(section));
        if (section.sh_type != SHT_PROGBITS || section.sh_name >= names.size()) continue;
        const std::string_view name = names.c_str() + section.sh_name;
        if (name == kDebugLinkSection) marks.link = read_debug_link(image.contents(section));
        if (name == kDebugDataSection) marks.packed = image.contents(section);
    }
    return marks;
}

// Of "/proc/70/root/usr/bin/app": what leads to the process's files, and where it is there.
DebugPlaces places_of(const std::string& path, const std::string& debug_root) {
    DebugPlaces places{debug_root, path.substr(0, path.rfind('/')), {""}};
    constexpr std::string_view kProc = "/proc/", kRoot = "/root/";
    const size_t root = path.starts_with(kProc) ? path.find(kRoot, kProc.size()) : path.npos;
    if (root == path.npos || path.find('/', kProc.size()) != root) return places;
    const size_t end = root + kRoot.size() - 1;
    places.systems.insert(places.systems.begin(), path.substr(0, end));
    places.folder = path.substr(end, path.rfind('/') - end);
    return places;
}

std::optional<ElfImage> unpacked(const std::string& section, const std::string& path) {
    const std::optional<std::string> bytes = unpack_debug_data(section);
    if (!bytes) return std::nullopt;
    UniqueFd file(::memfd_create("mlbcc-symbols", MFD_CLOEXEC));
    if (!file || !write_all(file.get(), *bytes)) return std::nullopt;
    Result<ElfImage> image = ElfImage::read(std::move(file), path);
    if (!image) return std::nullopt;
    return std::move(*image);
}

}  // namespace

std::vector<ElfImage> debug_images(const ElfImage& stripped, const std::string& path,
                                   const std::string& debug_root) {
    std::vector<ElfImage> found;
    const Marks marks = marks_of(stripped);
    if (!marks.packed.empty()) {
        if (auto image = unpacked(marks.packed, path)) found.push_back(std::move(*image));
    }
    for (const std::string& file :
         debug_files(marks.build_id, marks.link, places_of(path, debug_root))) {
        if (files::file_id(file) == files::file_id(path)) continue;
        Result<ElfImage> image = ElfImage::open(file);
        if (!image) continue;
        const bool belongs = marks.build_id.empty()
                                 ? marks.link && has_crc(image->descriptor(), marks.link->crc)
                                 : marks_of(*image).build_id == marks.build_id;
        if (!belongs) continue;
        found.push_back(std::move(*image));
        break;
    }
    return found;
}

}  // namespace mlbcc::elf
