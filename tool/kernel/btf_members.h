// Where the members of a kernel's struct are, those of anonymous structs in it included.
//
//   struct { int a; union { int b; long c; }; unsigned d : 3; }  ->  a at 0, b at 8, c at 8,
//                                                                    d at 16: 3 bits
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernel/btf_image.h"

namespace mlbcc::kernel {

struct BtfMember {
    std::string_view name;
    uint32_t type = 0;
    uint64_t bit = 0;        // from the beginning of the record
    uint32_t bit_width = 0;  // 0: not a bit-field
};
// Of a struct or union, behind typedefs too; else none.
std::vector<BtfMember> members_of(const BtfImage& image, uint32_t record);

// A field as it is read.
struct KernelField {
    uint32_t offset = 0;     // bytes from the beginning of the struct
    uint32_t size = 0;       // bytes, of a bit-field those of the unit that it is read as
    uint8_t bit_offset = 0;  // within that unit, which begins at `offset`
    uint8_t bit_width = 0;   // 0: not a bit-field
};
// A bit-field is read as its declared type, aligned, and shifted; one that straddles two such units
// from the byte that it begins in (as rules::RecordField has them).
KernelField field_of(const BtfImage& image, const BtfMember& member);

// Bytes of a value of the type; 0 for void, functions and what is not defined.
uint32_t size_of(const BtfImage& image, uint32_t id);

}  // namespace mlbcc::kernel
