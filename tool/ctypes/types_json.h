// C types as libclang knows them become the "types" of the JSON that rules/ctypes.h describes:
//
//   CUdeviceptr *   ->   {"spelling":"CUdeviceptr *","kind":"pointer","to":4,"const":false}
//
// A type is added with all that it is made of, and named by its index. Types that are spelled alike
// are one: C has a single scope for what can be seen from outside, and a `struct model *` in a
// prototype is meant to be the `struct model` that is defined elsewhere in the file.
#pragma once

#include <clang-c/Index.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "text/json.h"

namespace mlbcc::ctypes {

class TypesJson {
public:
    // `type` as that of a value: its own qualifiers do not count.
    uint32_t add(CXType type);
    // As the type of a parameter: arrays and functions become pointers.
    uint32_t add_parameter(CXType type);
    // A struct or union with its members: what an incomplete type of that name then means.
    void know_definition(CXType record);
    // Is the enum in the table, under whatever name?
    bool has_enum(CXType type) const;

    const std::vector<std::string>& json() const { return json_; }

private:
    uint32_t reserve(const std::string& spelling);
    uint32_t add_pointer(CXType pointee);
    std::string describe(CXType type, const std::string& spelling);
    void write_kind(json::Writer& writer, CXType type);
    void write_enum(json::Writer& writer, CXType type);
    void write_pointer(json::Writer& writer, CXType pointee);
    void write_array(json::Writer& writer, CXType element, long long count);
    void write_record(json::Writer& writer, CXType type);

    std::vector<std::string> json_;
    std::unordered_map<const void*, uint32_t> by_type_;  // clang's own identity of a type
    std::unordered_map<std::string, uint32_t> by_spelling_;
    std::unordered_map<std::string, CXType> definitions_;  // "struct model"
    std::unordered_set<const void*> enums_;
};

}  // namespace mlbcc::ctypes
