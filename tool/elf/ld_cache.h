// /etc/ld.so.cache as a list: a soname to the file that the dynamic loader takes for it.
// Source of the format: glibc's sysdeps/generic/dl-cache.h ("glibc-ld.so.cache1.1").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mlbcc::elf {

struct CachedLibrary {
    std::string soname, path;
    // 0, or what the processor must have for this copy: the loader may take it instead of the
    // plain one.
    uint64_t hwcap = 0;
};

// Those of `machine` ("x86_64", "aarch64"), in the cache's order: of equal sonames with equal
// `hwcap`, the loader takes the first.
Result<std::vector<CachedLibrary>> parse_ld_cache(std::string_view bytes, std::string_view machine);

}  // namespace mlbcc::elf
