// What repeats in a job, and how its memory grows from one repetition to the next. Pure: from
// moves and looks in the order of time.
//
//   map 8 MiB, unmap 8 MiB, map 8 MiB, unmap 8 MiB, ...   ->  period 2
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sink/json_writer.h"

namespace mlbcc::phases {

struct TimeRange {
    uint64_t begin_ns = 0, end_ns = 0;  // since the trace began
    uint64_t length_ns() const { return end_ns > begin_ns ? end_ns - begin_ns : 0; }
};
// Of one span or more.
uint64_t median_length_ns(std::span<const TimeRange> spans);

// A large block of memory that a process took from the kernel, or gave back.
struct MemoryMove {
    uint64_t time_ns = 0;
    int64_t bytes = 0;  // negative: given back
};

struct MemoryLook {
    uint64_t time_ns = 0, bytes = 0;
};

struct Period {
    size_t first = 0;   // of the moves: where the first whole repetition begins
    size_t length = 0;  // moves in a repetition
    size_t count = 0;
};

// The shortest sequence of moves that comes at least four times, one directly after another, up to
// the last move, and makes up nearly all of them; nothing where there is none. A repetition begins
// where memory is taken, if it is.
std::optional<Period> find_period(const std::vector<MemoryMove>& moves);

struct MemoryGrowth {
    double bytes_a_repetition = 0;  // negative: it shrinks
    bool grows = false;             // steadily, and more than looks are off by
    size_t repetitions = 0;         // that were taken into account: not the first, nor the last
};

// A line through the looks at memory that no file is behind, by least squares. Nothing with fewer
// than eight repetitions, or too few looks.
std::optional<MemoryGrowth> growth_of(const std::vector<TimeRange>& repetitions,
                                      const std::vector<MemoryLook>& looks);

void add_members(sink::JsonWriter& json, const TimeRange& span);
void add_members(sink::JsonWriter& json, const MemoryGrowth& growth);

}  // namespace mlbcc::phases
