#include "ctypes/spelling.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "ctypes/clang_text.h"

namespace mlbcc::ctypes {

namespace {

constexpr std::array<std::string_view, 4> kQualifiers = {"const", "volatile", "restrict",
                                                         "__restrict"};

// const volatile int -> int
std::string_view without_leading(std::string_view text) {
    for (size_t i = 0; i < kQualifiers.size();) {
        std::string_view word = kQualifiers[i];
        bool found = text.starts_with(word) && text.substr(word.size()).starts_with(' ');
        if (found) text.remove_prefix(word.size() + 1);
        i = found ? 0 : i + 1;
    }
    return text;
}

// char *const restrict -> char *
std::string_view without_trailing(std::string_view text) {
    for (size_t i = 0; i < kQualifiers.size();) {
        std::string_view word = kQualifiers[i];
        bool found = text.ends_with(word) && text.size() > word.size();
        if (found) text.remove_suffix(word.size());
        while (found && text.ends_with(' ')) text.remove_suffix(1);
        i = found ? 0 : i + 1;
    }
    return text;
}

bool is_array(CXTypeKind kind) {
    return kind == CXType_ConstantArray || kind == CXType_IncompleteArray ||
           kind == CXType_VariableArray;
}

bool names_address(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name.ends_with("ptr") || name.ends_with("ptr_t") || name.ends_with("ptr_v2") ||
           name.ends_with("hex");
}

}  // namespace

std::string type_spelling(CXType type) {
    std::string text = text_of(clang_getTypeSpelling(type));
    // In front of a pointer or an array a qualifier speaks of what it points at or is made of.
    if (type.kind == CXType_Pointer) return std::string(without_trailing(text));
    if (is_array(type.kind)) return text;
    return std::string(without_leading(text));
}

std::string shown_spelling(const std::string& spelling) {
    for (std::string_view mark : {"(unnamed ", "(anonymous "}) {
        size_t begin = spelling.find(mark);
        if (begin == spelling.npos) continue;
        size_t end = spelling.find(')', begin);
        if (end == spelling.npos) continue;
        // "struct S::(unnamed at ...)": the scope says no more than the place does.
        size_t word = spelling.find(' ');
        return spelling.substr(0, std::min(word, begin)) + " (unnamed)" + spelling.substr(end + 1);
    }
    return spelling;
}

TypedefFlags typedef_flags(CXType type) {
    TypedefFlags flags;
    while (true) {
        if (type.kind == CXType_Elaborated) type = clang_Type_getNamedType(type);
        if (type.kind != CXType_Typedef) return flags;
        std::string name = text_of(clang_getTypedefName(type));
        flags.bytes |= name == "size_t" || name == "ssize_t";
        flags.address |= names_address(name);
        type = clang_getTypedefDeclUnderlyingType(clang_getTypeDeclaration(type));
    }
}

}  // namespace mlbcc::ctypes
