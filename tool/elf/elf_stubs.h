// The stubs by which a file calls functions that another file might have in the place of its own
// (its procedure linkage table): most of them lead to functions of the file itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "elf/elf_image.h"

namespace mlbcc::elf {

// Of many files, each read once.
class Stubs {
public:
    // Where in the file the function is that the stub at `offset` jumps to, as long as no other
    // file has one of its name. Nullopt: there is no stub, it is another file's function, or the
    // file is not for x86-64.
    std::optional<uint64_t> behind(const std::string& path, uint64_t offset);

private:
    struct File {
        std::optional<ElfImage> image;
        // What the loader puts where stubs look, as long as it is the file's own.
        std::unordered_map<uint64_t, uint64_t> functions;
    };
    static File read(const std::string& path);

    std::map<std::string, File> files_;
};

}  // namespace mlbcc::elf
