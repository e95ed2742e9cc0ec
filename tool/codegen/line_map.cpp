#include "codegen/line_map.h"

#include <algorithm>

namespace mlbcc::codegen {
namespace {

bool is_same(const Span& a, const Span& b) {
    return a.file == b.file && a.begin == b.begin && a.end == b.end;
}

uint32_t newlines(std::string_view text) {
    return static_cast<uint32_t>(std::ranges::count(text, '\n'));
}

}  // namespace

bool Origin::operator==(const Origin& other) const {
    return template_name == other.template_name && template_line == other.template_line &&
           std::ranges::equal(rules, other.rules, is_same);
}

void LineMap::add(Mark mark) {
    if (!marks_.empty() && marks_.back().line == mark.line) {
        // What begins a part is not hidden by what goes on in it.
        if (marks_.back().is_begin && !mark.is_begin && mark.origin.rules.empty()) return;
        marks_.pop_back();
    }
    marks_.push_back(std::move(mark));
}

void LineMap::add_behind(uint32_t lines, const LineMap& more) {
    for (Mark mark : more.marks_) {
        mark.line += lines;
        add(std::move(mark));
    }
}

void LineMap::insert(uint32_t before, uint32_t lines) {
    for (Mark& mark : marks_) {
        if (mark.line >= before) mark.line += lines;
    }
}

Origin LineMap::of(uint32_t line) const {
    auto after = std::ranges::upper_bound(marks_, line, {}, &Mark::line);
    if (after == marks_.begin()) return {};
    const Mark& mark = *std::prev(after);
    Origin origin = mark.origin;
    if (!origin.template_name.empty()) origin.template_line += line - mark.line;
    return origin;
}

void Source::append(std::string_view more) {
    text_ += more;
    lines_ += newlines(more);
}

void Source::append(const Source& more) {
    map_.add_behind(lines_, more.map_);
    append(more.text_);
    if (!more.map_.marks().empty()) origin_ = more.origin_;
}

void Source::from(Origin origin, bool is_begin) {
    if (!is_begin && origin == origin_) return;
    origin_ = origin;
    map_.add({lines_ + 1, std::move(origin), is_begin});
}

void Source::insert(size_t at, std::string_view more) {
    const uint32_t before = newlines(std::string_view(text_).substr(0, at)) + 1;
    map_.insert(before, newlines(more));
    text_.insert(at, more);
    lines_ += newlines(more);
}

}  // namespace mlbcc::codegen
