// What a file must be before it is looked at as rules: text, and not written as C.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rules/parser.h"
#include "text/utf8.h"

namespace mlbcc::rules {

namespace {

unsigned byte_at(std::string_view text, size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

// The length of the UTF-8 character at `i`, 0 if there is none or if it is NUL.
size_t character_at(std::string_view text, size_t i) {
    const unsigned first = byte_at(text, i);
    if (first < 0x80) return first == 0 ? 0 : 1;
    return utf8_length(text.substr(i));
}

// Those that no remark in English begins with.
constexpr auto kDirectives = std::to_array<std::string_view>(
    {"#include", "#define", "#undef", "#ifdef", "#ifndef", "#endif", "#pragma"});

std::string_view directive_of(std::string_view line) {
    for (std::string_view word : kDirectives) {
        if (!line.starts_with(word)) continue;
        bool ends = line.size() == word.size() || line[word.size()] == ' ' ||
                    line[word.size()] == '\t' || line[word.size()] == '<' ||
                    line[word.size()] == '"';
        return ends ? word : std::string_view{};
    }
    return {};
}

// "#include <a/b.h>" is `header "a/b.h"`.
std::string header_line(std::string_view line) {
    size_t begin = line.find_first_of("<\"");
    size_t end = line.find_last_of(">\"");
    if (begin == std::string_view::npos || end <= begin + 1) return "header \"FILE.h\"";
    return fmt::format("header \"{}\"", line.substr(begin + 1, end - begin - 1));
}

}  // namespace

std::optional<Error> check_text(std::string_view path, std::string_view text) {
    if (text.size() > kMaxRuleFile) {
        return Error{fmt::format("{} is too large: {} bytes, the limit is {}", path, text.size(),
                                 kMaxRuleFile)};
    }
    for (size_t i = 0; i < text.size();) {
        size_t length = character_at(text, i);
        if (length == 0) {
            auto line =
                1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(i), '\n');
            return Error{fmt::format("{} is not text: byte 0x{:02x} at offset {}, line {}", path,
                                     byte_at(text, i), i, line),
                         0, "a rule file is UTF-8 text"};
        }
        i += length;
    }
    return std::nullopt;
}

void warn_of_directives(const SourceFile& file, Diagnostics& diagnostics) {
    std::string_view text = file.text();
    for (size_t begin = 0; begin < text.size();) {
        size_t end = std::min(text.find('\n', begin), text.size());
        size_t first = std::min(text.find_first_not_of(" \t", begin), end);
        std::string_view line = text.substr(first, end - first);
        if (std::string_view word = directive_of(line); !word.empty()) {
            auto at = static_cast<uint32_t>(first);
            Span span{&file, at, at + static_cast<uint32_t>(word.size())};
            auto& warning =
                diagnostics.warning(span, fmt::format("`{}` is a comment in a rule file", word));
            warning.help(
                word == "#include"
                    ? fmt::format("write `{}`", header_line(line))
                    : "put C text that needs it in a file, and name that: `header \"FILE.h\"`");
        }
        begin = end + 1;
    }
}

}  // namespace mlbcc::rules
