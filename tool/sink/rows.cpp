#include "sink/rows.h"

#include <algorithm>

namespace mlbcc::sink {
namespace {

constexpr size_t kGap = 2;          // between a label and its number
constexpr size_t kNumbersEnd = 33;  // at least, where there is room
constexpr size_t kRoomy = 100;
constexpr size_t kLeastLabel = 20;  // labels are not shortened below this

}  // namespace

void Rows::add(size_t indent, std::string label, Number number, std::string behind) {
    rows_.emplace_back(Row{indent, std::move(label), std::move(number), std::move(behind)});
}

void Rows::wrapped(size_t indent, const std::vector<std::string>& words) {
    std::string current(indent, ' ');
    bool fresh = true;
    for (const std::string& word : words) {
        if (!fresh && width_of(current) + 1 + width_of(word) > width_) {
            line(std::move(current));
            current = std::string(indent + 4, ' ');
            fresh = true;
        }
        if (!fresh) current += ' ';
        current += word;
        fresh = false;
    }
    if (!fresh) line(std::move(current));
}

// Labels give way where a row would be too long.
std::string Rows::text() const {
    size_t label = 0, whole = 0, tail = 0;
    for (const auto& one : rows_) {
        const auto* row = std::get_if<Row>(&one);
        if (row == nullptr) continue;
        label = std::max(label, row->indent + width_of(row->label));
        whole = std::max(whole, width_of(row->number.whole));
        tail = std::max(tail, width_of(row->number.rest) + width_of(row->behind));
    }
    size_t taken = kGap + whole + tail;
    label = std::min(label, std::max(kLeastLabel, width_ - std::min(width_, taken)));
    size_t end = std::max(label + kGap + whole, width_ >= kRoomy ? kNumbersEnd : 0);
    struct Visitor {
        size_t label, end;
        std::string operator()(const std::string& line) const { return line; }
        std::string operator()(const Row& row) const {
            std::string text =
                std::string(row.indent, ' ') + shortened(row.label, label - row.indent);
            return text + right_aligned(row.number.whole, end - width_of(text)) + row.number.rest +
                   row.behind;
        }
    };
    std::string out;
    for (const auto& one : rows_) out += std::visit(Visitor{label, end}, one) + "\n";
    // Names are the traced programs': what steers terminals is shown as `?`.
    std::ranges::replace_if(
        out, [](unsigned char c) { return (c < 0x20 && c != '\n') || c == 0x7f; }, '?');
    return out;
}

}  // namespace mlbcc::sink
