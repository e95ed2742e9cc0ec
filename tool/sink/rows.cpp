#include "sink/rows.h"

#include <algorithm>

#include "text/terminal_text.h"

namespace mlbcc::sink {
namespace {

constexpr size_t kHeading = 2;      // how far rows are indented that have groups behind them
constexpr size_t kGap = 2;          // between a label and its number
constexpr size_t kNumbersEnd = 33;  // at least, where there is room
constexpr size_t kRoomy = 100;
constexpr size_t kMostLabel = 60;   // further off, numbers are hard to follow
constexpr size_t kLeastLabel = 20;  // labels are not shortened below this

}  // namespace

// Names are the traced programs'.
void Rows::add(size_t indent, std::string_view label, Number number, std::string_view behind) {
    rows_.emplace_back(Row{indent, on_terminal(label), std::move(number), on_terminal(behind)});
}

void Rows::line(std::string_view text) {
    rows_.emplace_back(on_terminal(text));
}

void Rows::wrapped(size_t indent, const std::vector<std::string>& words) {
    std::string current(indent, ' ');
    bool fresh = true;
    for (const std::string& word : words) {
        if (!fresh && width_of(current) + 1 + width_of(word) > width_) {
            line(current);
            current = std::string(indent + 4, ' ');
            fresh = true;
        }
        if (!fresh) current += ' ';
        current += word;
        fresh = false;
    }
    if (!fresh) line(current);
}

struct Rows::Columns {
    size_t label = 0, end = 0;  // most characters of a label, and where whole numbers end
};

// Labels give way where a row would be too long.
Rows::Columns Rows::columns(std::span<const Entry> entries) const {
    size_t label = 0, whole = 0, tail = 0;
    for (const Entry& one : entries) {
        const auto* row = std::get_if<Row>(&one);
        if (row == nullptr) continue;
        label = std::max(label, row->indent + width_of(row->label));
        whole = std::max(whole, width_of(row->number.whole));
        tail = std::max(tail, width_of(row->number.rest) + width_of(row->behind));
    }
    const size_t taken = kGap + whole + tail;
    const size_t room = std::max(kLeastLabel, width_ - std::min(width_, taken));
    label = std::min({label, room, kMostLabel});
    return {label, label + kGap + whole};
}

// A number and its groups: what is long in one of them does not cut the labels of others short.
size_t Rows::block_end(size_t begin) const {
    const auto is_deep = [&](size_t at) {
        const auto* row = std::get_if<Row>(&rows_[at]);
        return row == nullptr || row->indent > kHeading;
    };
    const auto has_groups = [&](size_t at) { return at + 1 < rows_.size() && is_deep(at + 1); };
    size_t end = begin + 1;
    if (!is_deep(begin) && !has_groups(begin)) {  // as many as have no groups
        while (end < rows_.size() && !is_deep(end) && !has_groups(end)) ++end;
        return end;
    }
    while (end < rows_.size() && is_deep(end)) ++end;
    return end;
}

std::string Rows::text() const {
    const std::span<const Entry> all(rows_);
    const size_t least_end =
        width_ >= kRoomy ? kNumbersEnd : std::min(columns(all).end, kNumbersEnd);
    struct Visitor {
        Columns at;
        std::string operator()(const std::string& line) const { return line; }
        std::string operator()(const Row& row) const {
            std::string text =
                std::string(row.indent, ' ') + shortened_within(row.label, at.label - row.indent);
            return text + right_aligned(row.number.whole, at.end - width_of(text)) +
                   row.number.rest + row.behind;
        }
    };
    std::string out;
    for (size_t begin = 0; begin < rows_.size();) {
        const auto block = all.subspan(begin, block_end(begin) - begin);
        Columns at = columns(block);
        at.end = std::max(at.end, least_end);
        for (const Entry& one : block) out += std::visit(Visitor{at}, one) + "\n";
        begin += block.size();
    }
    return out;
}

}  // namespace mlbcc::sink
