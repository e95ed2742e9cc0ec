// Which rule, or which template, each line of generated C is from: the messages of clang and of the
// kernel's verifier, which know lines of C, are told of the rules by it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/diagnostic.h"

namespace mlbcc::codegen {

struct Origin {
    std::vector<Span> rules;     // parts of rules' text that it carries out; empty: of no rule
    std::string template_name;   // "entry.bpf.c"; "": of no template
    uint32_t template_line = 0;  // from 1
    bool operator==(const Origin& other) const;
};

class LineMap {
public:
    struct Mark {
        uint32_t line = 0;      // from 1; what it says holds until the next mark
        Origin origin;          // a template's line is that of `line`
        bool is_begin = false;  // a part begins: not just what goes on behind another
    };
    void add(Mark mark);  // behind all others; in the place of one of the same line
    // The marks of a text that stands behind so many lines.
    void add_behind(uint32_t lines, const LineMap& more);
    // So many lines are put before this one.
    void insert(uint32_t before, uint32_t lines);

    Origin of(uint32_t line) const;
    const std::vector<Mark>& marks() const { return marks_; }

private:
    std::vector<Mark> marks_;  // by line
};

// C text as it is put together, whole lines at a time, with its map.
class Source {
public:
    void append(std::string_view more);
    void append(const Source& more);
    // What is appended from here on is from there.
    void from(Origin origin, bool is_begin = true);
    const Origin& origin() const { return origin_; }

    const std::string& text() const { return text_; }
    const LineMap& lines() const { return map_; }
    void insert(size_t at, std::string_view more);  // whole lines, where a line begins

private:
    std::string text_;
    uint32_t lines_ = 0;  // that are whole
    LineMap map_;
    Origin origin_;
};

}  // namespace mlbcc::codegen
