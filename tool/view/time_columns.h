// A stretch of time in columns, and what calls of one nesting level had of each. How long the trace
// is need not be known: when something lies behind the last column, two by two become one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mlbcc::view {

struct TimeCell {
    uint64_t busy_ns = 0;         // of the calls in it, together
    uint64_t call = 0, name = 0;  // of which the most is here: its number, from 1 on; its name
    uint64_t call_ns = 0;         // that it has of the cell
    uint32_t launches = 0, moments = 0;
    void add(const TimeCell& other);
};

class TimeColumns {
public:
    static constexpr size_t kCells = 1024;

    // Until `to_ns`; UINT64_MAX: as long as need be.
    TimeColumns(uint64_t from_ns, uint64_t to_ns);

    uint64_t from_ns() const { return from_ns_; }
    uint64_t cell_ns() const { return cell_ns_; }
    // How often two cells became one so far: rows that are behind catch up with this.
    size_t halvings() const { return halvings_; }
    // So that the moment has a cell; false where it lies outside.
    bool reach(uint64_t time_ns);
    size_t cell_of(uint64_t time_ns) const { return (time_ns - from_ns_) / cell_ns_; }

private:
    uint64_t from_ns_, to_ns_, cell_ns_;
    size_t halvings_ = 0;
};

class TimeRow {
public:
    // Of a call that has been reached, from and to within the columns.
    void add_call(const TimeColumns& columns, uint64_t begin_ns, uint64_t end_ns, uint64_t call,
                  uint64_t name);
    TimeCell& at(const TimeColumns& columns, uint64_t time_ns);
    struct Column {
        TimeCell all;
        double busy = 0;  // part of its time
        double call = 0;  // part that the call has of which the most is here
    };
    // `width` columns of the time until `to_ns`.
    std::vector<Column> shown(const TimeColumns& columns, uint64_t to_ns, size_t width);

private:
    void catch_up(const TimeColumns& columns);

    std::vector<TimeCell> cells_;
    size_t halvings_ = 0;
};

}  // namespace mlbcc::view
