#include "phases/moves_cut.h"

#include <algorithm>
#include <iterator>

namespace mlbcc::phases {
namespace {

bool gives_back(const MemoryMove& move) {
    return move.bytes < 0;
}

// How many of the first `count` moves lie before the longest time without one, which begins with
// `from_ns` at the earliest and ends with the move behind them, if there is one, at the latest.
size_t before_longest_gap(const std::vector<MemoryMove>& moves, size_t begin, size_t count,
                          uint64_t from_ns) {
    uint64_t longest = 0, previous = from_ns;
    size_t found = 0;
    size_t last = std::min(begin + count + 1, moves.size());
    for (size_t i = begin; i < last; ++i) {
        uint64_t gap = moves[i].time_ns - std::min(previous, moves[i].time_ns);
        if (gap > longest) {
            longest = gap;
            found = i - begin;
        }
        previous = moves[i].time_ns;
    }
    return found;
}

uint64_t freed(const std::vector<MemoryMove>& moves, size_t begin, size_t end) {
    uint64_t sum = 0;
    for (size_t i = begin; i < end; ++i) sum += static_cast<uint64_t>(-moves[i].bytes);
    return sum;
}

// From `begin` on nothing is taken any more. What belongs to a repetition is no cleanup.
size_t end_of_work(const std::vector<MemoryMove>& moves, size_t loaded, size_t begin) {
    auto at = [&](size_t index) { return moves.begin() + static_cast<ptrdiff_t>(index); };
    if (auto period = find_period({at(loaded), at(begin)})) {
        while (begin < moves.size() && moves[begin].bytes == moves[begin - period->length].bytes)
            ++begin;
        return begin;
    }
    return begin + before_longest_gap(moves, begin, moves.size() - begin, moves[begin - 1].time_ns);
}

}  // namespace

MovesCut cut_moves(const std::vector<MemoryMove>& moves, uint64_t last_read_ns) {
    std::vector<MemoryMove> after;
    std::ranges::copy_if(moves, std::back_inserter(after),
                         [&](const MemoryMove& move) { return move.time_ns >= last_read_ns; });
    auto first_taken = std::ranges::find_if_not(after, gives_back);
    auto last_taken = std::find_if_not(after.rbegin(), after.rend(), gives_back);
    auto leading = static_cast<size_t>(first_taken - after.begin());
    size_t loaded = before_longest_gap(after, 0, leading, last_read_ns);
    size_t trailing = leading == after.size() ? loaded : after.size();
    if (last_taken != after.rend()) {
        trailing = end_of_work(after, loaded, static_cast<size_t>(after.rend() - last_taken));
    }
    MovesCut cut;
    cut.loaded_ns = loaded == 0 ? last_read_ns : after[loaded - 1].time_ns;
    cut.freed_after_loading = freed(after, 0, loaded);
    if (trailing < after.size()) cut.cleanup_ns = after[trailing].time_ns;
    cut.freed_at_end = freed(after, trailing, after.size());
    cut.between.assign(after.begin() + static_cast<ptrdiff_t>(loaded),
                       after.begin() + static_cast<ptrdiff_t>(trailing));
    return cut;
}

}  // namespace mlbcc::phases
