#include "sink/rows.h"

#include <algorithm>

namespace mlbcc::sink {
namespace {

constexpr size_t kMinLabel = 24;
constexpr size_t kForNumbers = 40;  // characters of a line that labels leave free

}  // namespace

void Rows::add(size_t indent, std::string label, Number number, std::string behind) {
    size_t most = width_ - kForNumbers - indent;
    rows_.emplace_back(Row{indent, shortened(label, most), std::move(number), std::move(behind)});
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

std::string Rows::text() const {
    size_t label = kMinLabel, whole = 0;
    for (const auto& one : rows_) {
        const auto* row = std::get_if<Row>(&one);
        if (row == nullptr) continue;
        label = std::max(label, row->indent + width_of(row->label));
        whole = std::max(whole, width_of(row->number.whole));
    }
    struct Visitor {
        size_t label, whole;
        std::string operator()(const std::string& line) const { return line; }
        std::string operator()(const Row& row) const {
            return padded(std::string(row.indent, ' ') + row.label, label + 2) +
                   right_aligned(row.number.whole, whole) + row.number.rest + row.behind;
        }
    };
    std::string out;
    for (const auto& one : rows_) out += std::visit(Visitor{label, whole}, one) + "\n";
    return out;
}

}  // namespace mlbcc::sink
