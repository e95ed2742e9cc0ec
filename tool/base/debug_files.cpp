#include "base/debug_files.h"

#include <elf.h>
#include <fmt/format.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

namespace mlbcc {
namespace {

constexpr std::string_view kGnu("GNU\0", 4);  // whose note a build id is
// More of a file is not read for a CRC, nor unpacked: events wait meanwhile.
constexpr size_t kMostBytes = 256U << 20;

size_t padded(size_t bytes) {
    return (bytes + 3) & ~size_t{3};
}

}  // namespace

// "app.debug", zeros up to a multiple of 4, the CRC.
std::optional<DebugLink> read_debug_link(std::string_view section) {
    DebugLink link{std::string(section.substr(0, section.find('\0')))};
    const size_t at = padded(link.name.size() + 1);
    if (link.name.empty() || link.name.find('/') != std::string::npos) return std::nullopt;
    if (at + sizeof link.crc > section.size()) return std::nullopt;
    std::memcpy(&link.crc, &section[at], sizeof link.crc);
    return link;
}

std::string read_build_id(std::string_view notes) {
    Elf64_Nhdr note{};
    while (notes.size() >= sizeof note) {
        std::memcpy(&note, notes.data(), sizeof note);
        notes.remove_prefix(sizeof note);
        const size_t name = padded(note.n_namesz), description = padded(note.n_descsz);
        if (name > notes.size() || note.n_descsz > notes.size() - name) return {};
        if (note.n_type == NT_GNU_BUILD_ID && notes.substr(0, note.n_namesz) == kGnu) {
            std::string id;
            for (const char one : notes.substr(name, note.n_descsz))
                id += fmt::format("{:02x}", static_cast<unsigned char>(one));
            return id;
        }
        notes.remove_prefix(std::min(name + description, notes.size()));
    }
    return {};
}

std::vector<std::string> debug_files(const std::string& build_id,
                                     const std::optional<DebugLink>& link,
                                     const DebugPlaces& places) {
    std::vector<std::string> out;
    const bool has_root = !places.root.empty();
    for (const std::string& system : places.systems) {
        if (!has_root || build_id.size() < 4) break;
        out.push_back(fmt::format("{}{}/.build-id/{}/{}.debug", system, places.root,
                                  build_id.substr(0, 2), build_id.substr(2)));
    }
    for (const std::string& system : places.systems) {
        if (!link || places.folder.empty()) break;
        const std::string beside = system + places.folder;
        out.push_back(fmt::format("{}/{}", beside, link->name));
        out.push_back(fmt::format("{}/.debug/{}", beside, link->name));
        if (!has_root) continue;
        out.push_back(fmt::format("{}{}{}/{}", system, places.root, places.folder, link->name));
    }
    return out;
}

bool has_crc(int file, uint32_t wanted) {
    std::vector<unsigned char> block(256U << 10);
    uLong crc = 0;
    size_t done = 0;
    for (ssize_t n;
         (n = ::pread(file, block.data(), block.size(), static_cast<off_t>(done))) > 0;) {
        crc = ::crc32(crc, block.data(), static_cast<uInt>(n));
        done += static_cast<size_t>(n);
        if (done > kMostBytes) return false;
    }
    return crc == wanted;
}

std::optional<std::string> unpack_debug_data(std::string_view section) {
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, kMostBytes, 0) != LZMA_OK) return std::nullopt;
    std::string out;
    stream.next_in = reinterpret_cast<const uint8_t*>(section.data());
    stream.avail_in = section.size();
    lzma_ret result = LZMA_OK;
    while (result == LZMA_OK && out.size() < kMostBytes) {
        const size_t had = out.size();
        out.resize(std::min(kMostBytes, had + std::max(had, size_t{64} << 10)));
        stream.next_out = reinterpret_cast<uint8_t*>(&out[had]);
        stream.avail_out = out.size() - had;
        result = lzma_code(&stream, LZMA_FINISH);
        out.resize(out.size() - stream.avail_out);
    }
    lzma_end(&stream);
    if (result != LZMA_STREAM_END) return std::nullopt;
    return out;
}

}  // namespace mlbcc
