// The generated C for those who read it, and for messages that name its lines.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/codegen.h"

namespace mlbcc::codegen {
namespace {

constexpr std::string_view kLine = "#line ";
constexpr size_t kMaxShown = 120;  // bytes of a rule's text

std::string_view take_line(std::string_view& text) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

// What stands there, as one line.
std::string shown(std::string_view text) {
    std::string out;
    for (char c : text) {
        bool space = c == ' ' || (c >= '\t' && c <= '\r');
        if (!space)
            out += c;
        else if (!out.empty() && out.back() != ' ')
            out += ' ';
    }
    while (out.ends_with(' ') || out.ends_with('\\')) out.pop_back();  // \ would join lines
    if (out.size() <= kMaxShown) return out;
    size_t end = kMaxShown;
    while ((static_cast<unsigned char>(out[end]) & 0xc0) == 0x80) --end;  // within a character
    return out.substr(0, end) + "...";
}

// As the first line of C behind it.
size_t indent(std::string_view rest) {
    while (rest.starts_with(kLine)) take_line(rest);
    return std::min(rest.find_first_not_of(' '), rest.size());
}

// Or a block; a directive goes on behind a backslash.
bool ends_statement(std::string_view line) {
    size_t last = line.find_last_not_of(" \t\r");
    return last == std::string_view::npos || std::string_view(";{}").find(line[last]) < 3;
}

}  // namespace

std::string annotated(const Program& program) {
    std::string out;
    std::string_view rest = program.source;
    auto mark = program.lines.marks().begin();
    for (uint32_t line = 1; !rest.empty(); ++line) {
        for (; mark != program.lines.marks().end() && mark->line == line; ++mark) {
            if (!mark->is_begin) continue;
            for (const Span& span : mark->origin.rules) {
                out += fmt::format("{:{}}// {}: {}\n", "", indent(rest), span.place(),
                                   shown(span.text()));
            }
        }
        out.append(take_line(rest)).append("\n");
    }
    return out;
}

// libbcc puts lines of its own before functions and into them: each statement has its number.
std::string numbered(const std::string& source) {
    std::string out;
    std::string_view rest = source;
    bool is_told = true;  // the number of the next line must be said
    for (uint32_t line = 1; !rest.empty(); ++line) {
        std::string_view text = take_line(rest);
        if (text.starts_with(kLine)) {
            is_told = true;
            continue;
        }
        if (is_told && line > 1) out += fmt::format("{}{}\n", kLine, line);
        out.append(text).append("\n");
        is_told = ends_statement(text);
    }
    return out;
}

}  // namespace mlbcc::codegen
