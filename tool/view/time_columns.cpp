#include "view/time_columns.h"

#include <algorithm>
#include <utility>

namespace mlbcc::view {

namespace {

constexpr uint64_t kFirstCell = 1'000;  // ns

}  // namespace

void TimeCell::add(const TimeCell& other) {
    busy_ns += other.busy_ns;
    launches += other.launches;
    moments += other.moments;
    if (other.call == call) {
        call_ns += other.call_ns;
    } else if (other.call_ns > call_ns) {
        call = other.call;
        name = other.name;
        call_ns = other.call_ns;
    }
}

TimeColumns::TimeColumns(std::optional<uint64_t> from_ns, uint64_t to_ns)
    : from_ns_(from_ns.value_or(0)), to_ns_(to_ns), cell_ns_(kFirstCell),
      begin_ns_(static_cast<int64_t>(from_ns_)), has_begun_(from_ns.has_value()) {
    const uint64_t length = to_ns - from_ns_;
    if (length < kFirstCell * kCells)
        cell_ns_ = std::max<uint64_t>((length + kCells - 1) / kCells, 1);
}

bool TimeColumns::reach(uint64_t time_ns) {
    if (time_ns < from_ns_ || time_ns >= to_ns_) return false;
    const auto time = static_cast<int64_t>(time_ns);
    if (!has_begun_) begin_ns_ = time;
    has_begun_ = true;
    while (time < begin_ns_) {
        cell_ns_ *= 2;
        begin_ns_ -= static_cast<int64_t>(kCells / 2 * cell_ns_);
        halvings_.push_back(true);
    }
    while (cell_of(time_ns) >= kCells) {
        cell_ns_ *= 2;
        halvings_.push_back(false);
    }
    return true;
}

void TimeRow::catch_up(const TimeColumns& columns) {
    constexpr size_t kHalf = TimeColumns::kCells / 2;
    cells_.resize(TimeColumns::kCells);
    for (; halvings_ < columns.halvings().size(); ++halvings_) {
        std::vector<TimeCell> halved(TimeColumns::kCells);
        const size_t to = columns.halvings()[halvings_] ? kHalf : 0;
        for (size_t i = 0; i < kHalf; ++i) {
            halved[to + i] = cells_[2 * i];
            halved[to + i].add(cells_[2 * i + 1]);
        }
        cells_ = std::move(halved);
    }
}

TimeCell& TimeRow::at(const TimeColumns& columns, uint64_t time_ns) {
    catch_up(columns);
    return cells_[columns.cell_of(time_ns)];
}

void TimeRow::add_call(const TimeColumns& columns, uint64_t begin_ns, uint64_t end_ns,
                       uint64_t call, uint64_t name) {
    catch_up(columns);
    const size_t last = std::min(columns.cell_of(end_ns), TimeColumns::kCells - 1);
    for (size_t i = columns.cell_of(begin_ns); i <= last; ++i) {
        const auto begin = std::max(static_cast<int64_t>(begin_ns), columns.begin_of(i));
        const auto end = std::min(static_cast<int64_t>(end_ns), columns.begin_of(i + 1));
        const uint64_t here = end > begin ? static_cast<uint64_t>(end - begin) : 0;
        if (here == 0 && begin_ns != end_ns) continue;
        cells_[i].add({here, call, name, std::max<uint64_t>(here, 1), 0, 0});
    }
}

std::vector<TimeRow::Column> TimeRow::shown(const TimeColumns& columns, uint64_t from_ns,
                                            uint64_t to_ns, size_t width) {
    catch_up(columns);
    const size_t begin = columns.cell_of(from_ns);
    const size_t last = columns.cell_of(std::max(to_ns, from_ns + 1) - 1);
    const size_t used = std::min(last, TimeColumns::kCells - 1) + 1 - begin;
    std::vector<Column> made(width);
    for (size_t i = 0; i < width; ++i) {
        const size_t first = begin + i * used / width;
        const size_t end = std::max(begin + (i + 1) * used / width, first + 1);
        for (size_t cell = first; cell < end; ++cell) made[i].all.add(cells_[cell]);
        const auto time = static_cast<double>((end - first) * columns.cell_ns());
        made[i].busy = static_cast<double>(made[i].all.busy_ns) / time;
        made[i].call = static_cast<double>(made[i].all.call_ns) / time;
    }
    return made;
}

}  // namespace mlbcc::view
