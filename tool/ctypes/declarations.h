// What a translation unit declares, as far as a tracer wants to know it.
#pragma once

#include <clang-c/Index.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace mlbcc::ctypes {

struct Declarations {
    std::vector<CXCursor> functions;  // each name once: its last declaration that names parameters
    std::vector<CXType> enums;        // defined anywhere
    std::vector<CXType> records;      // structs and unions, defined anywhere
    std::vector<CXType> own_records;  // of those, the ones of the text itself
};

// `names`: globs of the functions that are wanted; nullopt: all.
Declarations declarations_of(CXTranslationUnit unit,
                             const std::optional<std::vector<std::string>>& names);

}  // namespace mlbcc::ctypes
