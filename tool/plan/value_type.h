// What a value is and how it is shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rules/check.h"

namespace mlbcc::plan {

struct ValueType {
    using Kind = rules::Show;
    // comm is text of 16 bytes; function and symbol take no room in the record: they are the
    // probe's
    Kind kind = Kind::unsigned_int;
    uint8_t size = 8;                        // significant bytes of the stored 64-bit slot
    std::optional<rules::TypeId> enum_type;  // Kind::enumeration
    std::string learnt_table;                // not empty: shown by the name learnt for it
    rules::Unit unit = rules::Unit::none;
    bool hex_unnamed = false;  // an enumeration: a number without a name is hexadecimal
    bool demangle = false;     // text: a name of C++, shown as people write it
    bool operator==(const ValueType&) const = default;
};

bool may_be_negative(const ValueType& type, const rules::TypeTable& types);

}  // namespace mlbcc::plan
