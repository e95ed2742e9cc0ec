#include "ctypes/record_fields.h"

#include "ctypes/clang_text.h"

namespace mlbcc::ctypes {

namespace {

struct Walk {
    std::vector<FieldPlace>& fields;
    uint64_t base_bits;  // of the record within the outermost one
};

bool is_anonymous_record(CXType type) {
    CXCursor declaration = clang_getTypeDeclaration(clang_getCanonicalType(type));
    return clang_Cursor_isAnonymousRecordDecl(declaration) != 0;
}

// A bit-field is read as its declared type, aligned, and shifted. A packed one may straddle two
// such units: then from the byte that it begins in.
void place_bits(FieldPlace& field, uint64_t bit, uint32_t width) {
    auto unit = static_cast<uint64_t>(clang_Type_getSizeOf(field.type)) * 8;
    bool straddles = bit / unit != (bit + width - 1) / unit;
    uint64_t start = straddles ? bit / 8 * 8 : bit / unit * unit;
    field.offset = start / 8;
    field.bit_offset = static_cast<uint32_t>(bit - start);
    field.bit_width = width;
}

void walk_record(CXType record, Walk walk);

CXVisitorResult visit_field(CXCursor cursor, CXClientData data) {
    auto& walk = *static_cast<Walk*>(data);
    long long offset = clang_Cursor_getOffsetOfField(cursor);
    if (offset < 0) return CXVisit_Continue;  // of a record that could not be laid out
    uint64_t bit = walk.base_bits + static_cast<uint64_t>(offset);
    FieldPlace field{text_of(clang_getCursorSpelling(cursor)), clang_getCursorType(cursor)};
    if (is_anonymous_record(field.type)) {
        walk_record(field.type, Walk{walk.fields, bit});
        return CXVisit_Continue;
    }
    if (field.name.empty()) return CXVisit_Continue;  // padding
    if (clang_Cursor_isBitField(cursor) != 0) {
        place_bits(field, bit, static_cast<uint32_t>(clang_getFieldDeclBitWidth(cursor)));
    } else {
        field.offset = bit / 8;
    }
    walk.fields.push_back(std::move(field));
    return CXVisit_Continue;
}

void walk_record(CXType record, Walk walk) {
    clang_Type_visitFields(clang_getCanonicalType(record), visit_field, &walk);
}

}  // namespace

std::vector<FieldPlace> record_fields(CXType record) {
    std::vector<FieldPlace> fields;
    walk_record(record, Walk{fields, 0});
    return fields;
}

}  // namespace mlbcc::ctypes
