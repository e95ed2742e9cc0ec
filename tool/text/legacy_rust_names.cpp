#include <charconv>
#include <utility>

#include "text/rust_names.h"

namespace mlbcc {
namespace {

constexpr std::pair<std::string_view, char> kEscapes[] = {
    {"SP", '@'}, {"BP", '*'}, {"RF", '&'}, {"LT", '<'},
    {"GT", '>'}, {"LP", '('}, {"RP", ')'}, {"C", ','},
};

std::string utf8(uint32_t code) {
    auto byte = [](uint32_t value) { return static_cast<char>(value); };
    auto later = [&](int shift) { return byte(0x80 | (code >> shift & 0x3f)); };
    if (code < ' ' || code > 0x10ffff) return {};
    if (code < 0x80) return {byte(code)};
    if (code < 0x800) return {byte(0xc0 | code >> 6), later(0)};
    if (code < 0x10000) return {byte(0xe0 | code >> 12), later(6), later(0)};
    return {byte(0xf0 | code >> 18), later(12), later(6), later(0)};
}

// What stands between two '$': "LT", or "u7e" for a character's code. "" if it is neither.
std::string unescaped(std::string_view escape) {
    for (auto [name, c] : kEscapes) {
        if (name == escape) return {c};
    }
    uint32_t code = 0;
    const char* end = escape.data() + escape.size();
    if (escape.size() < 2 || escape[0] != 'u') return {};
    auto [after, error] = std::from_chars(escape.data() + 1, end, code, 16);
    return error == std::errc() && after == end ? utf8(code) : "";
}

// "_$LT$T$u20$as$u20$core..fmt..Debug$GT$" -> "<T as core::fmt::Debug>"
std::string part_text(std::string_view part) {
    if (part.starts_with("_$")) part.remove_prefix(1);
    std::string out;
    while (!part.empty()) {
        size_t length = 1;
        if (part.starts_with("..")) {
            out += "::";
            length = 2;
        } else if (size_t end = part[0] == '$' ? part.find('$', 1) : part.npos; end != part.npos) {
            std::string plain = unescaped(part.substr(1, end - 1));
            if (!plain.empty()) length = end + 1;
            out += plain.empty() ? "$" : plain;
        } else {
            out += part[0];
        }
        part.remove_prefix(length);
    }
    return out;
}

// "h0123456789abcdef"
bool is_hash(std::string_view part) {
    return part.size() == 17 && part[0] == 'h' &&
           part.find_first_not_of("0123456789abcdef", 1) == part.npos;
}

}  // namespace

// Behind the E may stand what LLVM added: ".llvm.1234".
std::optional<std::string> legacy_rust_name(std::string_view name) {
    if (!name.starts_with("_ZN")) return std::nullopt;
    name.remove_prefix(3);
    std::string out;
    while (true) {
        size_t length = 0;
        auto [after, error] = std::from_chars(name.data(), name.data() + name.size(), length);
        name.remove_prefix(static_cast<size_t>(after - name.data()));
        if (error != std::errc() || length >= name.size()) return std::nullopt;
        std::string_view part = name.substr(0, length);
        name.remove_prefix(length);
        bool is_last = name[0] == 'E' && (name.size() == 1 || name[1] == '.');
        if (is_last) return is_hash(part) && !out.empty() ? std::optional(out) : std::nullopt;
        if (!out.empty()) out += "::";
        out += part_text(part);
    }
}

}  // namespace mlbcc
