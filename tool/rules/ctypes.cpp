#include "rules/ctypes.h"

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <algorithm>
#include <array>
#include <limits>

#include "rules/lexer.h"

namespace mlbcc::rules {

namespace {

using Json = rapidjson::Value;

// Reads members of JSON objects. The first thing that is not as it must be is kept as the reason
// why the whole is broken; reading goes on with zeros.
class JsonReader {
public:
    const std::string& broken() const { return broken_; }
    void fail(std::string why) {
        if (broken_.empty()) broken_ = std::move(why);
    }

    // The member, or null if it is absent.
    const Json* find(const Json& object, const char* name) {
        if (!object.IsObject()) {
            fail(fmt::format("what should have `{}` is not an object", name));
            return nullptr;
        }
        auto member = object.FindMember(name);
        return member == object.MemberEnd() ? nullptr : &member->value;
    }

    // Empty where it is absent.
    Json::ConstArray array(const Json& object, const char* name) {
        const Json* value = find(object, name);
        if (value != nullptr && !value->IsArray()) fail(fmt::format("`{}` is not an array", name));
        return value != nullptr && value->IsArray() ? value->GetArray() : empty_.GetArray();
    }

    std::string text(const Json& object, const char* name) {
        const Json* value = find(object, name);
        if (value == nullptr) return {};
        return string(*value, name);
    }

    std::string string(const Json& value, const char* name) {
        if (!value.IsString()) {
            fail(fmt::format("`{}` is not a string", name));
            return {};
        }
        return {value.GetString(), value.GetStringLength()};
    }

    bool flag(const Json& object, const char* name) {
        const Json* value = find(object, name);
        if (value == nullptr) return false;
        if (!value->IsBool()) fail(fmt::format("`{}` is neither true nor false", name));
        return value->IsTrue();
    }

    // Zero where it is absent.
    template <class Unsigned> Unsigned number(const Json& object, const char* name) {
        const Json* value = find(object, name);
        if (value == nullptr) return 0;
        if (value->IsUint64() && value->GetUint64() <= std::numeric_limits<Unsigned>::max()) {
            return static_cast<Unsigned>(value->GetUint64());
        }
        fail(fmt::format("`{}` is out of range", name));
        return 0;
    }

private:
    std::string broken_;
    const Json empty_{rapidjson::kArrayType};
};

class TypesReader {
public:
    TypesReader(const RuleSet& rules, Diagnostics& diagnostics, TypeTable types = {})
        : rules_(rules), diagnostics_(diagnostics), first_(types.size()), table_(std::move(types)) {
    }
    Result<TypeTable> read(const Json& root);

private:
    CType type(const Json& json);
    TypeId reference(const Json& object, const char* name);
    EnumType enumeration(const Json& json);
    RecordType record(const Json& json);
    Signature signature(const Json& json);
    void diagnostic(const Json& json);
    Span span_of(const Place& place) const;

    const RuleSet& rules_;
    Diagnostics& diagnostics_;
    JsonReader json_;
    size_t first_ = 0, type_count_ = 0;  // of the types that are read
    Diagnostic* reported_ = nullptr;     // what a note of libclang belongs to
    TypeTable table_;
};

// ---- types

using Kind = decltype(CType::kind);

TypeId TypesReader::reference(const Json& object, const char* name) {
    auto index = json_.number<uint32_t>(object, name);
    if (json_.find(object, name) == nullptr || index >= type_count_) {
        json_.fail(fmt::format("`{}` names no type", name));
        index = 0;
    }
    return static_cast<TypeId>(first_ + index);
}

// {"kind":"enum","size":4,"signed":false,"constants":[["CUDA_SUCCESS",0]]}
EnumType TypesReader::enumeration(const Json& json) {
    EnumType type{json_.number<uint8_t>(json, "size"), json_.flag(json, "signed"), {}};
    for (const Json& pair : json_.array(json, "constants")) {
        bool right = pair.IsArray() && pair.Size() == 2 && pair[0].IsString() &&
                     (pair[1].IsInt64() || pair[1].IsUint64());
        if (!right) {
            json_.fail("a constant of an enum is not a pair of name and value");
            return type;
        }
        auto value =
            pair[1].IsInt64() ? pair[1].GetInt64() : static_cast<int64_t>(pair[1].GetUint64());
        type.constants.emplace_back(json_.string(pair[0], "constants"), value);
    }
    return type;
}

// {"kind":"record","union":false,"complete":true,"size":8,"fields":[{"name":"n","type":1,"offset":0}]}
RecordType TypesReader::record(const Json& json) {
    RecordType type;
    type.is_union = json_.flag(json, "union");
    type.complete = json_.flag(json, "complete");
    type.size = json_.number<uint32_t>(json, "size");
    for (const Json& field : json_.array(json, "fields")) {
        type.fields.push_back({json_.text(field, "name"), reference(field, "type"),
                               json_.number<uint32_t>(field, "offset"),
                               json_.number<uint8_t>(field, "bit_offset"),
                               json_.number<uint8_t>(field, "bit_width")});
    }
    return type;
}

CType TypesReader::type(const Json& json) {
    CType type;
    std::string kind = json_.text(json, "kind");
    type.spelling = json_.text(json, "spelling");
    type.is_address = json_.flag(json, "address");
    type.is_byte_count = json_.flag(json, "bytes");
    if (kind == "void") {
        type.kind = VoidType{};
    } else if (kind == "bool") {
        type.kind = BoolType{};
    } else if (kind == "int") {
        type.kind = IntType{json_.number<uint8_t>(json, "size"), json_.flag(json, "signed"),
                            json_.flag(json, "char")};
    } else if (kind == "float") {
        type.kind = FloatType{json_.number<uint8_t>(json, "size")};
    } else if (kind == "enum") {
        type.kind = enumeration(json);
    } else if (kind == "pointer") {
        type.kind = PointerType{reference(json, "to"), json_.flag(json, "const")};
    } else if (kind == "array") {
        type.kind = ArrayType{reference(json, "of"), json_.number<uint64_t>(json, "count")};
    } else if (kind == "record") {
        type.kind = record(json);
    } else if (kind == "function") {
        type.kind = FunctionType{};
    } else {
        json_.fail(fmt::format("`{}` is not a kind of type", kind));
    }
    return type;
}

// {"name":"f","ret":3,"params":[{"name":"dptr","type":7}],"variadic":false,"file":"a.h","line":3,"column":1}
Signature TypesReader::signature(const Json& json) {
    Signature signature;
    signature.name = json_.text(json, "name");
    signature.ret = reference(json, "ret");
    for (const Json& param : json_.array(json, "params")) {
        signature.params.push_back({json_.text(param, "name"), reference(param, "type")});
    }
    signature.variadic = json_.flag(json, "variadic");
    signature.place = {json_.text(json, "file"), json_.number<uint32_t>(json, "line"),
                       json_.number<uint32_t>(json, "column")};
    return signature;
}

// ---- what libclang complains about

// The token there, if the place is in a rule file.
Span TypesReader::span_of(const Place& place) const {
    auto has_path = [&](const auto& file) { return file->path() == place.path; };
    auto found = std::find_if(rules_.files.begin(), rules_.files.end(), has_path);
    if (found == rules_.files.end() || place.line == 0) return {};
    const SourceFile& file = **found;
    uint32_t begin = file.offset_of(place.line, place.column);
    Lexer lexer(file);
    lexer.rewind(begin);
    Token token = lexer.next();
    return {&file, begin, token.span.begin == begin ? token.span.end : begin};
}

void TypesReader::diagnostic(const Json& json) {
    std::string severity = json_.text(json, "severity");
    std::string message = json_.text(json, "message");
    Place place{json_.text(json, "file"), json_.number<uint32_t>(json, "line"),
                json_.number<uint32_t>(json, "column")};
    if (severity == "note") {
        if (reported_ != nullptr) reported_->at(std::move(message), std::move(place));
        return;
    }
    Span span = span_of(place);
    bool is_warning = severity == "warning";
    if (span.file != nullptr) {
        reported_ = is_warning ? &diagnostics_.warning(span, std::move(message))
                               : &diagnostics_.error(span, std::move(message));
    } else {
        reported_ = is_warning ? &diagnostics_.warning_at(std::move(place), std::move(message))
                               : &diagnostics_.error_at(std::move(place), std::move(message));
    }
}

Result<TypeTable> TypesReader::read(const Json& root) {
    auto types = json_.array(root, "types");
    type_count_ = types.Size();
    for (const Json& json : types) {
        TypeId id = table_.add(type(json));
        table_.index_constants(id);
    }
    for (const Json& json : json_.array(root, "functions")) table_.add(signature(json));
    for (const Json& json : json_.array(root, "diagnostics")) diagnostic(json);
    if (!json_.broken().empty())
        return Error{"the C types from mlbcc-bcc are broken: " + json_.broken()};
    return std::move(table_);
}

Result<void> parse(std::string_view json, rapidjson::Document& document) {
    document.Parse<rapidjson::kParseIterativeFlag>(json.data(), json.size());
    if (!document.HasParseError()) return {};
    return Error{fmt::format("the C types from mlbcc-bcc are broken: {} (byte {})",
                             rapidjson::GetParseError_En(document.GetParseError()),
                             document.GetErrorOffset())};
}

Result<TypeTable> read(TypesReader reader, std::string_view json) {
    rapidjson::Document document;
    if (auto done = parse(json, document); !done) return done.error();
    return reader.read(document);
}

}  // namespace

Result<TypeTable> read_types(std::string_view json, const RuleSet& rules,
                             Diagnostics& diagnostics) {
    return read(TypesReader(rules, diagnostics), json);
}

Result<TypeId> read_task(std::string_view json, TypeTable& types) {
    const RuleSet none;
    Diagnostics mistakes;
    Result<TypeTable> table = read(TypesReader(none, mistakes, types), json);
    if (!table) return table.error();
    const Signature* task = table->function(kTaskPrototype);
    if (mistakes.has_errors() || task == nullptr || task->params.size() != 1) {
        return Error{"clang cannot read them: " + mistakes.render(), 0, {}};
    }
    types = std::move(*table);
    return task->params[0].type;
}

Result<std::vector<std::string>> read_files(std::string_view json) {
    rapidjson::Document document;
    if (auto done = parse(json, document); !done) return done.error();
    JsonReader reader;
    std::vector<std::string> files;
    for (const Json& file : reader.array(document, "files"))
        files.push_back(reader.string(file, "files"));
    if (!reader.broken().empty())
        return Error{"the C types from mlbcc-bcc are broken: " + reader.broken()};
    return files;
}

}  // namespace mlbcc::rules
