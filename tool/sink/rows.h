// Rows of a summary: a label, a number, and what is said behind it, the numbers aligned at the
// decimal point over what belongs together: a number and its groups.
//
//   Kernel launches              42
//   Total memory allocated      500.00 MiB in 15 calls
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sink/format.h"

namespace mlbcc::sink {

class Rows {
public:
    explicit Rows(size_t width) : width_(width) {}

    void add(size_t indent, std::string_view label, Number number, std::string_view behind = {});
    void line(std::string_view text);  // a line of its own
    // Words, broken between them where they would be too long; further lines stand four deeper.
    void wrapped(size_t indent, const std::vector<std::string>& words);

    void append(const Rows& others) {
        rows_.insert(rows_.end(), others.rows_.begin(), others.rows_.end());
    }
    bool empty() const { return rows_.empty(); }
    std::string text() const;

private:
    struct Row {
        size_t indent;
        std::string label;
        Number number;
        std::string behind;
    };
    using Entry = std::variant<Row, std::string>;
    struct Columns;
    Columns columns(std::span<const Entry> entries) const;
    size_t block_end(size_t begin) const;

    size_t width_;
    std::vector<Entry> rows_;
};

}  // namespace mlbcc::sink
