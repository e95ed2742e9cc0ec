#include "ctypes/declarations.h"

#include <algorithm>

#include "ctypes/clang_text.h"
#include "text/glob.h"

namespace mlbcc::ctypes {

namespace {

struct Visit {
    const std::optional<std::vector<std::string>>& names;
    Declarations found;
    std::unordered_map<std::string, size_t> index;  // function to its place in found.functions
};

bool wanted(const Visit& visit, const std::string& name) {
    if (!visit.names) return true;
    return std::any_of(visit.names->begin(), visit.names->end(),
                       [&](const std::string& glob) { return glob_match(glob, name); });
}

bool names_parameters(CXCursor function) {
    int count = clang_Cursor_getNumArguments(function);
    for (int i = 0; i < count; ++i) {
        CXCursor parameter = clang_Cursor_getArgument(function, static_cast<unsigned>(i));
        if (!text_of(clang_getCursorSpelling(parameter)).empty()) return true;
    }
    return count <= 0;
}

// The text comes after the headers, so a prototype of the user's own wins over a header's.
void visit_function(Visit& visit, CXCursor cursor) {
    if (clang_getCursorLinkage(cursor) != CXLinkage_External) return;
    std::string name = text_of(clang_getCursorSpelling(cursor));
    if (!wanted(visit, name)) return;
    auto [known, is_new] = visit.index.emplace(std::move(name), visit.found.functions.size());
    if (is_new) {
        visit.found.functions.push_back(cursor);
    } else if (names_parameters(cursor)) {
        visit.found.functions[known->second] = cursor;
    }
}

void visit_record(Visit& visit, CXCursor cursor) {
    if (clang_isCursorDefinition(cursor) == 0) return;
    CXType type = clang_getCursorType(cursor);
    visit.found.records.push_back(type);
    if (clang_Location_isFromMainFile(clang_getCursorLocation(cursor)) != 0) {
        visit.found.own_records.push_back(type);
    }
}

CXChildVisitResult visit_declaration(CXCursor cursor, CXCursor, CXClientData data) {
    auto& visit = *static_cast<Visit*>(data);
    CXCursorKind kind = clang_getCursorKind(cursor);
    if (kind == CXCursor_FunctionDecl) visit_function(visit, cursor);
    if (kind == CXCursor_EnumDecl && clang_isCursorDefinition(cursor) != 0) {
        visit.found.enums.push_back(clang_getCursorType(cursor));
    }
    bool record = kind == CXCursor_StructDecl || kind == CXCursor_UnionDecl;
    if (record) visit_record(visit, cursor);
    return record ? CXChildVisit_Recurse : CXChildVisit_Continue;  // records nest, enums in them
}

}  // namespace

Declarations declarations_of(CXTranslationUnit unit,
                             const std::optional<std::vector<std::string>>& names) {
    Visit visit{names, {}, {}};
    clang_visitChildren(clang_getTranslationUnitCursor(unit), visit_declaration, &visit);
    return std::move(visit.found);
}

}  // namespace mlbcc::ctypes
