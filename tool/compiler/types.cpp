#include "compiler/types.h"

#include <chrono>

#include "base/as_caller.h"
#include "compiler/interpose.h"
#include "compiler/last_words.h"
#include "ctypes/clang_text.h"
#include "ctypes/declarations.h"
#include "ctypes/translation_unit.h"
#include "ctypes/types_json.h"

namespace mlbcc::compiler {

namespace {

using Clock = std::chrono::steady_clock;

void write_place(JsonWriter& writer, CXSourceLocation location) {
    ctypes::CodePlace place = ctypes::place_of(location);
    write(writer, "file", place.file);
    write(writer, "line", place.line);
    write(writer, "column", place.column);
}

// ---- functions

void write_parameters(JsonWriter& writer, ctypes::TypesJson& types, CXCursor function) {
    writer.Key("params");
    writer.StartArray();
    int count = clang_Cursor_getNumArguments(function);
    for (int i = 0; i < count; ++i) {
        CXCursor parameter = clang_Cursor_getArgument(function, static_cast<unsigned>(i));
        writer.StartObject();
        write(writer, "name", ctypes::text_of(clang_getCursorSpelling(parameter)));
        write(writer, "type", types.add_parameter(clang_getCursorType(parameter)));
        writer.EndObject();
    }
    writer.EndArray();
}

void write_function(JsonWriter& writer, ctypes::TypesJson& types, CXCursor function) {
    CXType type = clang_getCursorType(function);
    writer.StartObject();
    write(writer, "name", ctypes::text_of(clang_getCursorSpelling(function)));
    write(writer, "ret", types.add(clang_getResultType(type)));
    write_parameters(writer, types, function);
    writer.Key("variadic");
    writer.Bool(type.kind == CXType_FunctionProto && clang_isFunctionTypeVariadic(type) != 0);
    write_place(writer, clang_getCursorLocation(function));
    writer.EndObject();
}

void write_functions(JsonWriter& writer, ctypes::TypesJson& types,
                     const ctypes::Declarations& declarations) {
    writer.Key("functions");
    writer.StartArray();
    for (CXCursor function : declarations.functions) write_function(writer, types, function);
    writer.EndArray();
}

// ---- types

void add_declared(ctypes::TypesJson& types, const ctypes::Declarations& declarations) {
    for (CXType type : declarations.own_records) types.add(type);
    for (CXType type : declarations.enums) {
        if (!types.has_enum(type)) types.add(type);
    }
}

void write_types(JsonWriter& writer, const ctypes::TypesJson& types) {
    writer.Key("types");
    writer.StartArray();
    for (const std::string& type : types.json()) {
        writer.RawValue(type.data(), type.size(), rapidjson::kObjectType);
    }
    writer.EndArray();
}

// ---- diagnostics

const char* severity_name(CXDiagnosticSeverity severity) {
    switch (severity) {
    case CXDiagnostic_Ignored:
    case CXDiagnostic_Note: return "note";
    case CXDiagnostic_Warning: return "warning";
    case CXDiagnostic_Error:
    case CXDiagnostic_Fatal: return "error";
    }
    return "error";
}

void write_diagnostic(JsonWriter& writer, CXDiagnostic diagnostic);

// "previous declaration is here", "in file included from ...": those with a place of the user's.
void write_notes(JsonWriter& writer, CXDiagnostic diagnostic) {
    CXDiagnosticSet notes = clang_getChildDiagnostics(diagnostic);
    writer.Key("notes");
    writer.StartArray();
    for (unsigned i = 0; i < clang_getNumDiagnosticsInSet(notes); ++i) {
        CXDiagnostic note = clang_getDiagnosticInSet(notes, i);
        if (!ctypes::place_of(clang_getDiagnosticLocation(note)).file.empty()) {
            write_diagnostic(writer, note);
        }
    }
    writer.EndArray();
}

void write_diagnostic(JsonWriter& writer, CXDiagnostic diagnostic) {
    writer.StartObject();
    write(writer, "severity", severity_name(clang_getDiagnosticSeverity(diagnostic)));
    write_place(writer, clang_getDiagnosticLocation(diagnostic));
    write(writer, "message", ctypes::text_of(clang_getDiagnosticSpelling(diagnostic)));
    write_notes(writer, diagnostic);
    writer.EndObject();
}

// A header's warnings are its authors' business.
bool is_shown(CXDiagnostic diagnostic) {
    CXDiagnosticSeverity severity = clang_getDiagnosticSeverity(diagnostic);
    if (severity >= CXDiagnostic_Error) return true;
    CXSourceLocation location = clang_getDiagnosticLocation(diagnostic);
    bool own =
        clang_Location_isFromMainFile(location) != 0 && !ctypes::place_of(location).file.empty();
    return severity == CXDiagnostic_Warning && own;
}

void write_diagnostics(JsonWriter& writer, CXTranslationUnit unit) {
    writer.Key("diagnostics");
    writer.StartArray();
    unsigned count = clang_getNumDiagnostics(unit);
    for (unsigned i = 0; i < count; ++i) {
        CXDiagnostic diagnostic = clang_getDiagnostic(unit, i);
        if (is_shown(diagnostic)) write_diagnostic(writer, diagnostic);
        clang_disposeDiagnostic(diagnostic);
    }
    writer.EndArray();
}

void write_file(CXFile file, CXSourceLocation* /*stack*/, unsigned depth, CXClientData writer) {
    if (depth == 0) return;  // the text that includes them
    static_cast<JsonWriter*>(writer)->String(ctypes::text_of(clang_getFileName(file)).c_str());
}

void write_files(JsonWriter& writer, CXTranslationUnit unit) {
    writer.Key("files");
    writer.StartArray();
    clang_getInclusions(unit, write_file, &writer);
    writer.EndArray();
}

std::optional<std::vector<std::string>> wanted_names(const JsonValue& request) {
    if (!json::is_list(request, "names")) return std::nullopt;
    return json::texts_of(request, "names");
}

ctypes::Headers read_headers(const JsonValue& request) {
    return ctypes::Headers{json::texts_of(request, "headers"), json::text_of(request, "text"),
                           json::texts_of(request, "include_dirs"),
                           json::texts_of(request, "system_dirs"),
                           json::flag_of(request, "of_kernel")};
}

}  // namespace

Reply parse_types(const JsonValue& request) {
    LastWords last_words("libclang crashed on the C declarations");
    auto start = Clock::now();
    // What a header includes stands in messages, and a pipe or a device has no end.
    const Result<AsCaller> as_caller = AsCaller::begin();
    if (!as_caller) return failure({as_caller.error(), "", "", ""});
    const PlainFiles plain_files;
    const ctypes::Headers headers = read_headers(request);
    auto unit = ctypes::TranslationUnit::parse(headers);
    if (!unit) return failure({unit.error(), "", "", ""});
    double parse_ms = ms_since(start);
    ctypes::Declarations declarations = ctypes::declarations_of(unit->get(), wanted_names(request));
    ctypes::TypesJson types;
    for (CXType record : declarations.records) types.know_definition(record);
    rapidjson::StringBuffer buffer;
    JsonWriter writer(buffer);
    writer.StartObject();
    writer.Key("ok");
    writer.Bool(true);
    write_functions(writer, types, declarations);
    if (!headers.of_kernel) add_declared(types, declarations);
    write_types(writer, types);
    write_diagnostics(writer, unit->get());
    if (json::flag_of(request, "list_files")) write_files(writer, unit->get());
    writer.Key("timings");
    writer.StartObject();
    write_ms(writer, "parse_ms", parse_ms);
    write_ms(writer, "total_ms", ms_since(start));
    writer.EndObject();
    writer.EndObject();
    return Reply{{buffer.GetString(), buffer.GetSize()}, {}};
}

}  // namespace mlbcc::compiler
