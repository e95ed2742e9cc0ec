#include "event/order.h"

#include <algorithm>
#include <utility>

namespace mlbcc::event {

void Merger::add(uint32_t cpu, std::span<const std::byte> record, std::span<const Key> keys,
                 const RecordNotes& notes) {
    StoredRecord* stored = arena_.store(cpu, record, notes, static_cast<uint8_t>(keys.size()));
    for (const Key& key : keys) {
        uint64_t rank = static_cast<uint64_t>(key.part) << kPartShift | arrived_++;
        fresh_.push_back({key.time_ns, rank, stored});
    }
}

// A merge sort over the runs that are there already: one ring after the other, each nearly sorted,
// makes few of them.
void Merger::sort_fresh() {
    runs_.assign(1, 0);
    for (size_t i = 1; i < fresh_.size(); ++i) {
        if (fresh_[i] < fresh_[i - 1]) runs_.push_back(i);
    }
    runs_.push_back(fresh_.size());
    while (runs_.size() > 2) {
        scratch_.resize(fresh_.size());
        size_t kept = 0;
        for (size_t i = 0; i + 1 < runs_.size(); i += 2) {
            auto at = [&](size_t run) {
                return fresh_.begin() +
                       static_cast<ptrdiff_t>(runs_[std::min(run, runs_.size() - 1)]);
            };
            std::merge(at(i), at(i + 1), at(i + 1), at(i + 2),
                       scratch_.begin() + (at(i) - fresh_.begin()));
            runs_[kept++] = runs_[i];
        }
        runs_.resize(kept);
        runs_.push_back(fresh_.size());
        std::swap(fresh_, scratch_);
    }
}

// Only the tail of sorted_ that is later than the first fresh entry moves.
void Merger::merge_fresh() {
    if (fresh_.empty()) return;
    sort_fresh();
    auto begin = sorted_.begin() + static_cast<ptrdiff_t>(head_);
    auto tail = sorted_.empty() || sorted_.back() < fresh_.front()
                    ? sorted_.end()
                    : std::upper_bound(begin, sorted_.end(), fresh_.front());
    scratch_.assign(tail, sorted_.end());
    size_t keep = static_cast<size_t>(tail - sorted_.begin());
    sorted_.resize(keep + scratch_.size() + fresh_.size());
    std::merge(scratch_.begin(), scratch_.end(), fresh_.begin(), fresh_.end(),
               sorted_.begin() + static_cast<ptrdiff_t>(keep));
    fresh_.clear();
}

void Merger::forget_drained() {
    if (head_ == sorted_.size()) {
        sorted_.clear();
        head_ = 0;
    } else if (head_ > sorted_.size() / 2) {
        sorted_.erase(sorted_.begin(), sorted_.begin() + static_cast<ptrdiff_t>(head_));
        head_ = 0;
    }
}

}  // namespace mlbcc::event
