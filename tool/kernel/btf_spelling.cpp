#include "kernel/btf_spelling.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace mlbcc::kernel {

namespace {

constexpr int kMaxTypeNesting = 32;     // a broken file has circles
constexpr size_t kMaxSpelling = 1'000;  // bytes: callbacks take callbacks

// As gcc names it -> as clang does, and all that read C.
constexpr auto kShorter = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"long unsigned int", "unsigned long"},
    {"long int", "long"},
    {"long long unsigned int", "unsigned long long"},
    {"long long int", "long long"},
    {"short unsigned int", "unsigned short"},
    {"short int", "short"},
});

std::string_view shorter(std::string_view name) {
    for (const auto& [gcc, usual] : kShorter) {
        if (name == gcc) return usual;
    }
    return name;
}

// "*", "[4]", "(*)(int)": what C writes around a name that is left out.
std::string spell(const BtfImage& image, uint32_t id, const std::string& around, int nesting);

// "int" + "[4]" is "int[4]"; "int" + "*" is "int *".
std::string joined(std::string_view name, const std::string& around) {
    if (around.empty()) return std::string(name);
    return fmt::format("{}{}{}", name, around.starts_with('[') ? "" : " ", around);
}

std::string tagged(std::string_view word, std::string_view name) {
    return fmt::format("{} {}", word, name.empty() ? "(unnamed)" : name);
}

std::string pointer(const BtfImage& image, const btf_type& type, const std::string& around,
                    int nesting) {
    uint32_t to = type.type;
    const btf_type* target = image.type(to);
    const uint32_t kind = target == nullptr ? 0 : kind_of(*target);
    const bool inside = kind == BTF_KIND_ARRAY || kind == BTF_KIND_FUNC_PROTO;
    return spell(image, to, inside ? "(*" + around + ")" : "*" + around, nesting);
}

std::string function(const BtfImage& image, const btf_type& type, const std::string& around,
                     int nesting) {
    std::string list;
    for (const btf_param& param : image.params(type)) {
        if (!list.empty()) list += ", ";
        list +=
            param.type == 0 && param.name_off == 0 ? "..." : spell(image, param.type, "", nesting);
        if (list.size() > kMaxSpelling) break;
    }
    return spell(image, type.type, fmt::format("{}({})", around, list.empty() ? "void" : list),
                 nesting);
}

// In front of a pointer a qualifier is written behind its star.
std::string qualified(const BtfImage& image, const btf_type& type, std::string_view word,
                      const std::string& around, int nesting) {
    const btf_type* target = image.type(type.type);
    if (target == nullptr || kind_of(*target) != BTF_KIND_PTR) {
        return fmt::format("{} {}", word, spell(image, type.type, around, nesting));
    }
    return spell(image, type.type, around.empty() ? std::string(word) : joined(word, around),
                 nesting);
}

std::string spell(const BtfImage& image, uint32_t id, const std::string& around, int nesting) {
    if (nesting > kMaxTypeNesting || around.size() > kMaxSpelling) return joined("...", around);
    const btf_type* type = image.type(id);
    if (type == nullptr) return joined("void", around);
    const std::string_view name = image.name(*type);
    ++nesting;
    switch (kind_of(*type)) {
    case BTF_KIND_PTR: return pointer(image, *type, around, nesting);
    case BTF_KIND_FUNC_PROTO: return function(image, *type, around, nesting);
    case BTF_KIND_ARRAY: {
        const btf_array* array = image.array(*type);
        return spell(image, array->type, fmt::format("{}[{}]", around, array->nelems), nesting);
    }
    case BTF_KIND_CONST: return qualified(image, *type, "const", around, nesting);
    case BTF_KIND_VOLATILE: return qualified(image, *type, "volatile", around, nesting);
    case BTF_KIND_RESTRICT: return qualified(image, *type, "restrict", around, nesting);
    case BTF_KIND_TYPE_TAG: return spell(image, type->type, around, nesting);
    case BTF_KIND_STRUCT: return joined(tagged("struct", name), around);
    case BTF_KIND_UNION: return joined(tagged("union", name), around);
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64: return joined(tagged("enum", name), around);
    case BTF_KIND_FWD:
        return joined(tagged(BTF_INFO_KFLAG(type->info) != 0 ? "union" : "struct", name), around);
    default: return joined(shorter(name), around);
    }
}

// const volatile int -> int
uint32_t without_qualifiers(const BtfImage& image, uint32_t id) {
    for (int i = 0; i < kMaxTypeNesting; ++i) {
        const btf_type* type = image.type(id);
        if (type == nullptr) return id;
        const uint32_t kind = kind_of(*type);
        if (kind != BTF_KIND_CONST && kind != BTF_KIND_VOLATILE && kind != BTF_KIND_RESTRICT) {
            return id;
        }
        id = type->type;
    }
    return id;
}

}  // namespace

std::string spelling_of(const BtfImage& image, uint32_t id) {
    return spell(image, without_qualifiers(image, id), "", 0);
}

}  // namespace mlbcc::kernel
