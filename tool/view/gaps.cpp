#include "view/gaps.h"

#include <algorithm>

namespace mlbcc::view {

void Gaps::add(uint64_t begin_ns, uint64_t end_ns) {
    if (begin_ns > reach_ns_) {
        kept_.push_back({reach_ns_, begin_ns});
        if (kept_.size() >= 2 * kKept) forget();
    } else {
        cut(begin_ns, end_ns);
    }
    reach_ns_ = std::max(reach_ns_, end_ns);
}

// Takes this time out of the gaps that are there. An instant makes two of one.
void Gaps::cut(uint64_t begin_ns, uint64_t end_ns) {
    size_t first = kept_.size();
    while (first > 0 && kept_[first - 1].end_ns > begin_ns) --first;
    std::vector<Gap> left;
    for (size_t i = first; i < kept_.size(); ++i) {
        const Gap gap = kept_[i];
        if (gap.begin_ns < begin_ns) left.push_back({gap.begin_ns, std::min(gap.end_ns, begin_ns)});
        if (gap.end_ns > end_ns) left.push_back({std::max(gap.begin_ns, end_ns), gap.end_ns});
    }
    kept_.resize(first);
    kept_.insert(kept_.end(), left.begin(), left.end());
}

void Gaps::forget() {
    std::vector<uint64_t> lengths;
    for (const Gap& gap : kept_) lengths.push_back(gap.length_ns());
    auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    const uint64_t least = *middle;
    auto longer = std::ranges::count_if(lengths, [&](uint64_t one) { return one > least; });
    auto room = static_cast<std::ptrdiff_t>(kKept) - longer;  // for the first of the least ones
    std::erase_if(kept_, [&](const Gap& gap) {
        if (gap.length_ns() == least) return room-- <= 0;
        return gap.length_ns() < least;
    });
}

std::vector<Gap> Gaps::longest(size_t most, uint64_t to_ns) const {
    std::vector<Gap> gaps = kept_;
    if (to_ns > reach_ns_) gaps.push_back({reach_ns_, to_ns});
    std::ranges::stable_sort(
        gaps, [](const Gap& a, const Gap& b) { return a.length_ns() > b.length_ns(); });
    if (gaps.size() > most) gaps.resize(most);
    return gaps;
}

}  // namespace mlbcc::view
