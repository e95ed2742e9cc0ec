// The members of a struct or union, those of anonymous members among them, each with its place.
#pragma once

#include <clang-c/Index.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mlbcc::ctypes {

struct FieldPlace {
    std::string name;
    CXType type;
    uint64_t offset = 0;      // bytes
    uint32_t bit_offset = 0;  // within the storage at `offset`, for bit-fields
    uint32_t bit_width = 0;   // 0: not a bit-field
};

std::vector<FieldPlace> record_fields(CXType record);

}  // namespace mlbcc::ctypes
