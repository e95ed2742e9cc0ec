// A user's mistakes, each with its place. A SourceFile maps byte offsets to lines; a Span is a
// range of a file; Diagnostics collects them all and prints them in rustc's form:
//
//   error: `bytessize` is not a parameter of `cuMemAlloc`
//     --> cuda.rules:14:21
//      |
//   14 |     sum   bytessize as "Total memory allocated"
//      |           ^^^^^^^^^ not known here
//   note: the prototype is here
//     --> types/cuda_driver.h:31:10
//      = help: a parameter with a similar name exists: `bytesize`
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace mlbcc {

class SourceFile {
public:
    SourceFile(std::string path, std::string text);
    const std::string& path() const { return path_; }  // as it is shown to the user
    std::string_view text() const { return text_; }
    struct Position {
        uint32_t line = 1, column = 1;  // both from 1; columns count bytes
    };
    Position position(uint32_t offset) const;
    uint32_t offset_of(uint32_t line, uint32_t column) const;  // clamped to the text
    std::string_view line(uint32_t number) const;              // without its newline

private:
    std::string path_, text_;
    std::vector<uint32_t> line_starts_;
};

// A place in a file that is not held in memory, such as a C header seen by libclang.
struct Place {
    std::string path;
    uint32_t line = 0, column = 0;  // from 1; 0: not known
};

struct Span {
    const SourceFile* file = nullptr;  // null: no place in a file of the user's
    uint32_t begin = 0, end = 0;       // byte offsets, end exclusive
    std::string place() const;         // "cuda.rules:14", or "" without a file
    Place where() const;               // of its first byte
    std::string_view text() const;     // what stands there, "" without a file
};

struct Diagnostic {
    // An aside is a note that is shown only where it is asked for: an `optional` target is missing.
    enum class Severity { error, warning, note, aside };
    struct Attachment {
        enum class Kind { note, help, place } kind;
        std::string text;
        Place place;  // for Kind::place: "note: TEXT" with an arrow line
    };
    Severity severity = Severity::error;
    std::string message;
    Span span;
    Place place;        // where `span` has no file; its path may be empty
    std::string label;  // stands behind the caret
    std::vector<Attachment> attachments;

    Diagnostic& note(std::string text);             // "   = note: ..."
    Diagnostic& help(std::string text);             // "   = help: ..."
    Diagnostic& at(std::string text, Place where);  // "note: ...\n  --> path:line:column"
    Diagnostic& labelled(std::string text);
};

class Diagnostics {
public:
    // The reference stays valid as long as the collection. The same message at the same place is
    // kept once (the second call returns a scratch object that is not shown).
    Diagnostic& error(Span span, std::string message);
    Diagnostic& warning(Span span, std::string message);
    Diagnostic& note(Span span, std::string message);
    Diagnostic& aside(Span span, std::string message);
    // In a file that is not held in memory.
    Diagnostic& error_at(Place place, std::string message);
    Diagnostic& warning_at(Place place, std::string message);

    bool has_errors() const { return errors_ > 0; }
    size_t error_count() const { return errors_; }
    const std::deque<Diagnostic>& all() const { return all_; }
    // All of them as text, at most 20 of each severity, then "error: 3 more errors". Tabs are shown
    // as four spaces and long lines are cut around the caret. Colour, and asides, only if asked.
    struct Look {
        bool color = false, asides = false;
    };
    std::string render(Look look) const;
    std::string render() const { return render({}); }

private:
    Diagnostic& add(Diagnostic::Severity severity, Span span, Place place, std::string message);
    std::deque<Diagnostic> all_;
    std::unordered_set<std::string> seen_;
    Diagnostic scratch_;
    size_t errors_ = 0;
};

// The candidate most like `name`, or nullopt: one that differs in upper and lower case only, else
// the least edit distance (a swap of neighbours counts once), at most a third of the length of
// `name`.
std::optional<std::string> closest_name(std::string_view name,
                                        std::span<const std::string> candidates);

}  // namespace mlbcc
