#include "ctypes/types_json.h"

#include "ctypes/clang_text.h"
#include "ctypes/record_fields.h"
#include "ctypes/spelling.h"

namespace mlbcc::ctypes {

using json::write;

namespace {

void write_kind_name(json::Writer& writer, const char* name) {
    write(writer, "kind", name);
}

void write_flag(json::Writer& writer, const char* name, bool value) {
    writer.Key(name);
    writer.Bool(value);
}

void write_size(json::Writer& writer, CXType type) {
    long long size = clang_Type_getSizeOf(type);
    write(writer, "size", static_cast<uint64_t>(size < 0 ? 0 : size));
}

// libclang lists the unsigned integers before the signed ones: Char_U UChar ... | Char_S SChar ...
bool is_signed(CXTypeKind kind) {
    return kind >= CXType_Char_S && kind <= CXType_Int128;
}

void write_integer(json::Writer& writer, CXType canonical) {
    write_kind_name(writer, "int");
    write_size(writer, canonical);
    write_flag(writer, "signed", is_signed(canonical.kind));
    bool is_char = canonical.kind == CXType_Char_U || canonical.kind == CXType_Char_S;
    if (is_char) write_flag(writer, "char", true);
}

void write_float(json::Writer& writer, CXType canonical) {
    write_kind_name(writer, "float");
    write_size(writer, canonical);
}

struct EnumWriter {
    json::Writer& writer;
    bool is_signed;
};

CXChildVisitResult write_constant(CXCursor cursor, CXCursor, CXClientData data) {
    if (clang_getCursorKind(cursor) != CXCursor_EnumConstantDecl) return CXChildVisit_Continue;
    auto& [writer, is_signed] = *static_cast<EnumWriter*>(data);
    writer.StartArray();
    writer.String(text_of(clang_getCursorSpelling(cursor)));
    long long value = clang_getEnumConstantDeclValue(cursor);
    // 0xc0000000 of 32 bits would be negative.
    if (!is_signed) value = static_cast<long long>(clang_getEnumConstantDeclUnsignedValue(cursor));
    writer.Int64(value);
    writer.EndArray();
    return CXChildVisit_Continue;
}

void write_field_place(json::Writer& writer, const FieldPlace& field) {
    write(writer, "offset", field.offset);
    if (field.bit_width == 0) return;
    write(writer, "bit_offset", field.bit_offset);
    write(writer, "bit_width", field.bit_width);
}

//   int -> int *     char * -> char **     int[4] -> int (*)[4]     int (void) -> int (*)(void)
std::string pointer_spelling(CXType pointee) {
    std::string spelling = text_of(clang_getTypeSpelling(pointee));
    size_t bracket = pointee.kind == CXType_FunctionProto   ? spelling.find('(')
                     : pointee.kind == CXType_ConstantArray ? spelling.find('[')
                                                            : spelling.npos;
    if (bracket == spelling.npos) return spelling + (spelling.ends_with('*') ? "*" : " *");
    bool spaced = bracket > 0 && spelling[bracket - 1] == ' ';
    return spelling.insert(bracket, spaced ? "(*)" : " (*)");
}

void write_flags(json::Writer& writer, CXType type, CXType canonical) {
    bool integer = canonical.kind >= CXType_Char_U && canonical.kind <= CXType_Int128;
    if (!integer && canonical.kind != CXType_Enum) return;
    TypedefFlags flags = typedef_flags(type);
    if (flags.address) write_flag(writer, "address", true);
    if (flags.bytes) write_flag(writer, "bytes", true);
}

}  // namespace

uint32_t TypesJson::add(CXType type) {
    auto known = by_type_.find(type.data[0]);
    if (known != by_type_.end()) return known->second;
    std::string spelling = type_spelling(type);
    auto alike = by_spelling_.find(spelling);
    uint32_t id = alike != by_spelling_.end() ? alike->second : reserve(spelling);
    by_type_.emplace(type.data[0], id);
    // Its own id is known before its members', for they may point back at it.
    if (alike == by_spelling_.end()) {
        std::string json = describe(type, spelling);
        json_[id] = std::move(json);
    }
    return id;
}

uint32_t TypesJson::add_parameter(CXType type) {
    CXType canonical = clang_getCanonicalType(type);
    for (CXType array : {type, canonical}) {
        CXType element = clang_getArrayElementType(array);
        if (element.kind != CXType_Invalid) return add_pointer(element);
    }
    bool function =
        canonical.kind == CXType_FunctionProto || canonical.kind == CXType_FunctionNoProto;
    return function ? add_pointer(type) : add(type);
}

uint32_t TypesJson::add_pointer(CXType pointee) {
    std::string spelling = pointer_spelling(pointee);
    auto known = by_spelling_.find(spelling);
    if (known != by_spelling_.end()) return known->second;
    uint32_t id = reserve(spelling);
    rapidjson::StringBuffer buffer;
    json::Writer writer(buffer);
    writer.StartObject();
    write(writer, "spelling", shown_spelling(spelling));
    write_pointer(writer, pointee);
    writer.EndObject();
    json_[id] = buffer.GetString();
    return id;
}

void TypesJson::know_definition(CXType record) {
    definitions_.emplace(text_of(clang_getTypeSpelling(record)), record);
}

bool TypesJson::has_enum(CXType type) const {
    return enums_.contains(clang_getCanonicalType(type).data[0]);
}

uint32_t TypesJson::reserve(const std::string& spelling) {
    auto id = static_cast<uint32_t>(json_.size());
    json_.emplace_back();
    by_spelling_.emplace(spelling, id);
    return id;
}

std::string TypesJson::describe(CXType type, const std::string& spelling) {
    rapidjson::StringBuffer buffer;
    json::Writer writer(buffer);
    writer.StartObject();
    write(writer, "spelling", shown_spelling(spelling));
    CXType canonical = clang_getCanonicalType(type);
    // A pointer's or an array's sugar says how its element is called: CUdeviceptr, not its integer.
    bool named_element = type.kind == CXType_Pointer || type.kind == CXType_ConstantArray ||
                         type.kind == CXType_IncompleteArray;
    write_kind(writer, named_element ? type : canonical);
    write_flags(writer, type, canonical);
    writer.EndObject();
    return {buffer.GetString(), buffer.GetSize()};
}

// libclang has some forty kinds of types, most of them of other languages than C.
void TypesJson::write_kind(json::Writer& writer, CXType type) {
    if (type.kind == CXType_Void) return write_kind_name(writer, "void");
    if (type.kind == CXType_Bool) return write_kind_name(writer, "bool");
    if (type.kind >= CXType_Char_U && type.kind <= CXType_Int128) {
        return write_integer(writer, type);
    }
    if (type.kind == CXType_Enum) return write_enum(writer, type);
    if (type.kind == CXType_Pointer) return write_pointer(writer, clang_getPointeeType(type));
    if (type.kind == CXType_Record) return write_record(writer, type);
    if (type.kind == CXType_FunctionProto || type.kind == CXType_FunctionNoProto) {
        return write_kind_name(writer, "function");
    }
    if (type.kind == CXType_Complex) return write_array(writer, clang_getElementType(type), 2);
    if (type.kind == CXType_Atomic) return write_kind(writer, clang_Type_getValueType(type));
    CXType element = clang_getElementType(type);  // of arrays and vectors
    if (element.kind != CXType_Invalid) {
        return write_array(writer, element, clang_getNumElements(type));
    }
    write_float(writer, type);
}

void TypesJson::write_enum(json::Writer& writer, CXType type) {
    CXCursor declaration = clang_getTypeDeclaration(type);
    enums_.insert(type.data[0]);
    CXType integer = clang_getCanonicalType(clang_getEnumDeclIntegerType(declaration));
    write_kind_name(writer, "enum");
    write_size(writer, type);
    write_flag(writer, "signed", is_signed(integer.kind));
    writer.Key("constants");
    writer.StartArray();
    EnumWriter constants{writer, is_signed(integer.kind)};
    clang_visitChildren(declaration, write_constant, &constants);
    writer.EndArray();
}

void TypesJson::write_pointer(json::Writer& writer, CXType pointee) {
    write_kind_name(writer, "pointer");
    write(writer, "to", add(pointee));
    write_flag(writer, "const", clang_isConstQualifiedType(clang_getCanonicalType(pointee)) != 0);
}

void TypesJson::write_array(json::Writer& writer, CXType element, long long count) {
    write_kind_name(writer, "array");
    write(writer, "of", add(element));
    write(writer, "count", static_cast<uint64_t>(count < 0 ? 0 : count));
}

void TypesJson::write_record(json::Writer& writer, CXType type) {
    auto definition = definitions_.find(type_spelling(type));
    if (definition != definitions_.end()) type = definition->second;
    bool complete = clang_Type_getSizeOf(type) >= 0;
    CXCursor declaration = clang_getTypeDeclaration(type);
    write_kind_name(writer, "record");
    write_flag(writer, "union", clang_getCursorKind(declaration) == CXCursor_UnionDecl);
    write_flag(writer, "complete", complete);
    write_size(writer, type);
    writer.Key("fields");
    writer.StartArray();
    for (const FieldPlace& field : complete ? record_fields(type) : std::vector<FieldPlace>{}) {
        writer.StartObject();
        write(writer, "name", field.name);
        write(writer, "type", add(field.type));
        write_field_place(writer, field);
        writer.EndObject();
    }
    writer.EndArray();
}

}  // namespace mlbcc::ctypes
