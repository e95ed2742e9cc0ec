// Diagnostics as text for a terminal, in rustc's form (diagnostic.h shows it).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "text/diagnostic.h"
#include "text/terminal_text.h"

namespace mlbcc {

namespace {

using Severity = Diagnostic::Severity;
using Kind = Diagnostic::Attachment::Kind;

constexpr size_t kMostShown = 20;
constexpr size_t kMaxColumns = 160;    // of a source line
constexpr size_t kColumnsBefore = 60;  // the caret, where a line is cut
constexpr std::string_view kTab = "    ";

struct Style {
    std::string_view error, warning, note, gutter, bold, off;
};
constexpr Style kPlain{};
constexpr Style kColored{"\x1b[1;31m", "\x1b[1;33m", "\x1b[1;32m",
                         "\x1b[1;34m", "\x1b[1m",    "\x1b[0m"};

std::string_view name_of(Severity severity) {
    switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::note:
    case Severity::aside: return "note";
    }
    return "";
}

std::string_view color_of(Severity severity, const Style& style) {
    switch (severity) {
    case Severity::error: return style.error;
    case Severity::warning: return style.warning;
    case Severity::note:
    case Severity::aside: return style.note;
    }
    return "";
}

// ---- source lines

bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// A control character in a rule file must not steer the terminal.
std::string_view shown(std::string_view character) {
    if (character == "\t") return kTab;
    return on_terminal(character) == character ? character : "\xef\xbf\xbd";
}

std::string printable(std::string_view text) {
    std::string out;
    for (size_t i = 0, next = 0; i < text.size(); i = next) {
        next = i + 1;
        while (next < text.size() && is_continuation(text[next])) ++next;
        const std::string_view character = text.substr(i, next - i);
        out += character == "\n" ? character : shown(character);
    }
    return out;
}

// A source line as it is shown, one string a column, and where the caret stands.
struct ShownLine {
    std::vector<std::string> columns;
    size_t caret_begin = 0, caret_end = 0;
};

// `begin` and `end` are bytes of `line`; both may be its size (a caret behind its last character).
ShownLine show_line(std::string_view line, size_t begin, size_t end) {
    ShownLine out;
    for (size_t i = 0, next = 0; i < line.size(); i = next) {
        next = i + 1;
        while (next < line.size() && is_continuation(line[next])) ++next;
        if (i <= begin) out.caret_begin = out.columns.size();
        std::string_view character = shown(line.substr(i, next - i));
        bool wide = character == kTab;
        for (size_t c = 0; c < (wide ? kTab.size() : 1); ++c) {
            out.columns.emplace_back(wide ? " " : character);
        }
        if (i < end) out.caret_end = out.columns.size();
    }
    if (begin >= line.size()) out.caret_begin = out.columns.size();
    out.caret_end = std::max(out.caret_end, out.caret_begin + 1);
    return out;
}

void cut_columns(ShownLine& line) {
    size_t size = line.columns.size();
    if (size <= kMaxColumns) return;
    size_t first = line.caret_begin > kMaxColumns / 2 ? line.caret_begin - kColumnsBefore : 0;
    size_t last = std::min(first + kMaxColumns, size);
    line.columns.erase(line.columns.begin() + static_cast<ptrdiff_t>(last), line.columns.end());
    line.columns.erase(line.columns.begin(), line.columns.begin() + static_cast<ptrdiff_t>(first));
    if (last < size) line.columns.emplace_back("...");
    line.caret_begin -= first;
    line.caret_end = std::max(line.caret_begin + 1, std::min(line.caret_end, last) - first);
    if (first == 0) return;
    line.columns.insert(line.columns.begin(), 3, ".");
    line.caret_begin += 3;
    line.caret_end += 3;
}

// ---- one diagnostic

class Renderer {
public:
    Renderer(std::string& out, const Style& style) : out_(out), style_(style) {}

    void render(const Diagnostic& diagnostic) {
        head(diagnostic.severity, diagnostic.message);
        width_ = 2;
        if (diagnostic.span.file != nullptr) {
            snippet(diagnostic);
        } else if (!diagnostic.place.path.empty()) {
            arrow(diagnostic.place);
        }
        for (const auto& attachment : diagnostic.attachments) {
            if (attachment.kind == Kind::place) place(attachment);
        }
        for (const auto& attachment : diagnostic.attachments) {
            if (attachment.kind != Kind::place) remark(attachment);
        }
    }

    void head(Severity severity, std::string_view message) {
        print("{}{}{}{}: {}{}\n", color_of(severity, style_), name_of(severity), style_.off,
              style_.bold, printable(message), style_.off);
    }

private:
    template <class... Args> void print(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    }

    void snippet(const Diagnostic& diagnostic) {
        Place where = diagnostic.span.where();
        width_ = std::to_string(where.line).size();
        arrow(where);
        std::string_view text = diagnostic.span.file->line(where.line);
        size_t begin = where.column - 1;
        ShownLine line =
            show_line(text, begin, begin + (diagnostic.span.end - diagnostic.span.begin));
        cut_columns(line);
        gutter("", "|", "");
        gutter(std::to_string(where.line), "|", fmt::format("{}", fmt::join(line.columns, "")));
        std::string carets = fmt::format("{:{}}{}{:^>{}}", "", line.caret_begin,
                                         color_of(diagnostic.severity, style_), "",
                                         line.caret_end - line.caret_begin);
        std::string_view space = diagnostic.label.empty() ? "" : " ";
        gutter("", "|",
               fmt::format("{}{}{}{}", carets, space, printable(diagnostic.label), style_.off));
    }

    void arrow(const Place& place) {
        print("{}{:{}}-->{} {}", style_.gutter, "", width_, style_.off, printable(place.path));
        if (place.line > 0) print(":{}", place.line);
        if (place.line > 0 && place.column > 0) print(":{}", place.column);
        print("\n");
    }

    // "14 | text"
    void gutter(std::string_view number, std::string_view bar, std::string_view text) {
        print("{}{:>{}} {}{}{}{}\n", style_.gutter, number, width_, bar, style_.off,
              text.empty() ? "" : " ", text);
    }

    void place(const Diagnostic::Attachment& attachment) {
        head(Severity::note, attachment.text);
        arrow(attachment.place);
    }

    // The lines of a text of several stand below each other.
    void remark(const Diagnostic::Attachment& attachment) {
        std::string_view name = attachment.kind == Kind::help ? "help" : "note";
        std::string indent(width_ + 9, ' ');
        std::string text;
        for (char c : printable(attachment.text)) {
            text += c;
            if (c == '\n') text += indent;
        }
        print("{}{:{}} ={} {}{}:{} {}\n", style_.gutter, "", width_, style_.off, style_.bold, name,
              style_.off, text);
    }

    std::string& out_;
    const Style& style_;
    size_t width_ = 2;  // digits of the line number
};

}  // namespace

std::string Diagnostics::render(Look look) const {
    std::string out;
    Renderer renderer(out, look.color ? kColored : kPlain);
    std::array<size_t, 4> seen{};
    for (const Diagnostic& diagnostic : all_) {
        if (diagnostic.severity == Severity::aside && !look.asides) continue;
        if (++seen[static_cast<size_t>(diagnostic.severity)] > kMostShown) continue;
        if (!out.empty()) out += '\n';
        renderer.render(diagnostic);
    }
    for (Severity severity :
         {Severity::aside, Severity::note, Severity::warning, Severity::error}) {
        size_t count = seen[static_cast<size_t>(severity)];
        if (count <= kMostShown) continue;
        size_t more = count - kMostShown;
        out += '\n';
        renderer.head(severity,
                      fmt::format("{} more {}{}", more, name_of(severity), more == 1 ? "" : "s"));
    }
    return out;
}

}  // namespace mlbcc
