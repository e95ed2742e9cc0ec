// The generated C for those who read it, and for messages that name its lines.
#include <algorithm>
#include <ranges>
#include <vector>

#include <fmt/format.h>

#include "codegen/codegen.h"

namespace mlbcc::codegen {
namespace {

constexpr std::string_view kLine = "#line ";
constexpr std::string_view kTemplate = "#line 1 \"probe_templates/";
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

// Of the lines of a program, from 1: those made from rules, and what lies between them.
struct OwnLines {
    uint32_t first = 1, end = UINT32_MAX;
};

OwnLines own_lines(const Program& program) {
    std::vector<std::string_view> lines;
    for (std::string_view rest = program.source; !rest.empty();) lines.push_back(take_line(rest));
    const auto of_rules = [](const LineMap::Mark& mark) { return !mark.origin.rules.empty(); };
    const std::vector<LineMap::Mark>& marks = program.lines.marks();
    const auto first = std::ranges::find_if(marks, of_rules);
    if (first == marks.end()) return {};
    OwnLines own{first->line, std::ranges::find_if(marks.rbegin(), marks.rend(), of_rules)->line};
    while (own.first > 1 && !lines[own.first - 1].starts_with(kLine)) --own.first;
    while (own.end <= lines.size() && !lines[own.end - 1].starts_with(kTemplate)) ++own.end;
    return own;
}

std::string left_out(uint32_t lines) {
    return fmt::format("// {} lines of templates, the same for all rules: `mlbcc emit` without "
                       "--annotate has them\n",
                       lines);
}

}  // namespace

std::string annotated(const Program& program, Annotated what) {
    std::string out;
    const OwnLines own = what == Annotated::own ? own_lines(program) : OwnLines();
    std::string_view rest = program.source;
    auto mark = program.lines.marks().begin();
    if (own.first > 1) out += left_out(own.first - 1);
    for (uint32_t line = 1; !rest.empty(); ++line) {
        if (line == own.end)
            return out + left_out(static_cast<uint32_t>(std::ranges::count(rest, '\n')));
        const bool is_shown = line >= own.first;
        for (; mark != program.lines.marks().end() && mark->line == line; ++mark) {
            if (!mark->is_begin || !is_shown) continue;
            for (const Span& span : mark->origin.rules) {
                out += fmt::format("{:{}}// {}: {}\n", "", indent(rest), span.place(),
                                   shown(span.text()));
            }
        }
        const std::string_view text = take_line(rest);
        if (is_shown) out.append(text).append("\n");
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
