#include "phases/repetitions.h"

#include <algorithm>
#include <cmath>

namespace mlbcc::phases {
namespace {

constexpr size_t kLeastRepetitions = 4;  // that make a pattern
constexpr size_t kLongestPattern = 256;  // moves in a repetition
constexpr size_t kLeastGrowth = 8;       // repetitions, and looks, that make a line
// In all: looks may be some 100 KiB off.
constexpr double kLeastBytes = 1 << 20;
constexpr double kSteady = 0.8;  // of the variation the line explains

size_t repeated_at_end(const std::vector<MemoryMove>& moves, size_t length) {
    size_t same = 0;
    for (size_t i = moves.size(); i-- > length; ++same) {
        if (moves[i].bytes != moves[i - length].bytes) break;
    }
    return same;
}

struct Line {
    double slope = 0, explained = 0;
};

Line line_through(const std::vector<std::pair<double, double>>& points) {
    double n = static_cast<double>(points.size()), mean_x = 0, mean_y = 0;
    for (const auto& [x, y] : points) {
        mean_x += x / n;
        mean_y += y / n;
    }
    double xx = 0, xy = 0, yy = 0;
    for (const auto& [x, y] : points) {
        xx += (x - mean_x) * (x - mean_x);
        xy += (x - mean_x) * (y - mean_y);
        yy += (y - mean_y) * (y - mean_y);
    }
    if (xx == 0 || yy == 0) return {};
    return {xy / xx, xy * xy / (xx * yy)};
}

}  // namespace

uint64_t median_length_ns(std::span<const TimeRange> spans) {
    std::vector<uint64_t> lengths;
    for (const TimeRange& span : spans) lengths.push_back(span.length_ns());
    auto middle = lengths.begin() + static_cast<ptrdiff_t>(lengths.size() / 2);
    std::ranges::nth_element(lengths, middle);
    return *middle;
}

std::optional<Period> find_period(const std::vector<MemoryMove>& moves) {
    size_t longest = std::min(kLongestPattern, moves.size() / kLeastRepetitions);
    for (size_t length = 1; length <= longest; ++length) {
        size_t covered = repeated_at_end(moves, length) + length;
        if (covered < kLeastRepetitions * length || covered * 5 < moves.size() * 4) continue;
        size_t first = moves.size() - covered;
        auto begin = moves.begin() + static_cast<ptrdiff_t>(first);
        auto taken = std::find_if(begin, begin + static_cast<ptrdiff_t>(length),
                                  [](const MemoryMove& one) { return one.bytes > 0; });
        if (taken != begin + static_cast<ptrdiff_t>(length)) {
            first += static_cast<size_t>(taken - begin);
        }
        Period found{first, length, (moves.size() - first) / length};
        if (found.count >= kLeastRepetitions) return found;
    }
    return {};
}

std::optional<MemoryGrowth> growth_of(const std::vector<TimeRange>& repetitions,
                                      const std::vector<MemoryLook>& looks) {
    if (repetitions.size() < kLeastGrowth + 2) return {};
    std::vector<std::pair<double, double>> points;
    size_t index = 1;
    for (const MemoryLook& look : looks) {
        if (look.time_ns < repetitions[1].begin_ns) continue;
        while (index + 1 < repetitions.size() && repetitions[index].end_ns <= look.time_ns) ++index;
        if (index + 1 >= repetitions.size()) break;
        const TimeRange& in = repetitions[index];
        double length = static_cast<double>(std::max<uint64_t>(1, in.end_ns - in.begin_ns));
        double part = static_cast<double>(look.time_ns - std::min(look.time_ns, in.begin_ns));
        points.emplace_back(static_cast<double>(index) + part / length,
                            static_cast<double>(look.bytes));
    }
    if (points.size() < kLeastGrowth) return {};
    Line line = line_through(points);
    MemoryGrowth growth{line.slope, false, repetitions.size() - 2};
    growth.grows = line.slope * static_cast<double>(growth.repetitions) >= kLeastBytes &&
                   line.explained >= kSteady;
    return growth;
}

void add_members(sink::JsonWriter& json, const TimeRange& span) {
    sink::member(json, "begin_ns", span.begin_ns);
    sink::member(json, "end_ns", span.end_ns);
}

void add_members(sink::JsonWriter& json, const MemoryGrowth& growth) {
    sink::member(json, "bytes_a_repetition", growth.bytes_a_repetition);
    sink::member(json, "grows", growth.grows);
    sink::member(json, "repetitions", uint64_t{growth.repetitions});
}

}  // namespace mlbcc::phases
