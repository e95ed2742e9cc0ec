#include "view/time_columns.h"

#include <algorithm>

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

TimeColumns::TimeColumns(uint64_t from_ns, uint64_t to_ns)
    : from_ns_(from_ns), to_ns_(to_ns), cell_ns_(kFirstCell) {
    const uint64_t length = to_ns - from_ns;
    if (length < kFirstCell * kCells)
        cell_ns_ = std::max<uint64_t>((length + kCells - 1) / kCells, 1);
}

bool TimeColumns::reach(uint64_t time_ns) {
    if (time_ns < from_ns_ || time_ns >= to_ns_) return false;
    while (cell_of(time_ns) >= kCells) {
        cell_ns_ *= 2;
        ++halvings_;
    }
    return true;
}

void TimeRow::catch_up(const TimeColumns& columns) {
    cells_.resize(TimeColumns::kCells);
    for (; halvings_ < columns.halvings(); ++halvings_) {
        for (size_t i = 0; i < TimeColumns::kCells; ++i) {
            const size_t from = 2 * i;
            TimeCell both;
            for (size_t one = from; one < std::min(from + 2, TimeColumns::kCells); ++one)
                both.add(cells_[one]);
            cells_[i] = both;
        }
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
        const uint64_t from = columns.from_ns() + i * columns.cell_ns();
        const uint64_t begin = std::max(begin_ns, from);
        const uint64_t end = std::min(end_ns, from + columns.cell_ns());
        const uint64_t here = end > begin ? end - begin : 0;
        if (here == 0 && begin_ns != end_ns) continue;
        cells_[i].add({here, call, name, std::max<uint64_t>(here, 1), 0, 0});
    }
}

std::vector<TimeRow::Column> TimeRow::shown(const TimeColumns& columns, uint64_t to_ns,
                                            size_t width) {
    catch_up(columns);
    const uint64_t length = to_ns - std::min(to_ns, columns.from_ns());
    const size_t used = std::clamp<size_t>((length + columns.cell_ns() - 1) / columns.cell_ns(), 1,
                                           TimeColumns::kCells);
    std::vector<Column> made(width);
    for (size_t i = 0; i < width; ++i) {
        const size_t first = i * used / width;
        const size_t end = std::max((i + 1) * used / width, first + 1);
        for (size_t cell = first; cell < end; ++cell) made[i].all.add(cells_[cell]);
        const auto time = static_cast<double>((end - first) * columns.cell_ns());
        made[i].busy = static_cast<double>(made[i].all.busy_ns) / time;
        made[i].call = static_cast<double>(made[i].all.call_ns) / time;
    }
    return made;
}

}  // namespace mlbcc::view
