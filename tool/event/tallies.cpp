#include "event/tallies.h"

#include <algorithm>
#include <bit>

namespace mlbcc::event {

Tallies::Tallies(const plan::Plan& plan) : aggregates_(plan.aggregates.size()) {}

Tallies::Numbers* Tallies::group(plan::AggregateId aggregate, std::span<const Value> by) {
    auto& groups = aggregates_[static_cast<uint32_t>(aggregate)];
    key_.clear();
    for (const Value& value : by) key_.emplace_back(value);
    auto found = groups.find(key_);
    if (found != groups.end()) return &found->second;
    if (groups.size() < kMaxGroups) return &groups[key_];
    ++refused_;
    return nullptr;
}

void Tallies::count(plan::AggregateId aggregate, std::span<const Value> by, uint64_t times) {
    if (Numbers* numbers = group(aggregate, by)) numbers->count += times;
}

void Tallies::add(plan::AggregateId aggregate, std::span<const Value> by, uint64_t value,
                  uint64_t over_ns) {
    Numbers* numbers = group(aggregate, by);
    if (numbers == nullptr) return;
    ++numbers->count;
    numbers->sum += value;
    numbers->over_ns += over_ns;
    numbers->min = std::min(numbers->min, value);
    numbers->max = std::max(numbers->max, value);
    bool is_positive = static_cast<int64_t>(value) > 0;
    ++numbers->buckets.at(is_positive ? static_cast<size_t>(std::bit_width(value)) : 0);
}

std::vector<TallyGroup> Tallies::groups(plan::AggregateId aggregate) const {
    std::vector<TallyGroup> out;
    for (const auto& [key, numbers] : aggregates_[static_cast<uint32_t>(aggregate)]) {
        TallyGroup& group = out.emplace_back();
        for (const OwnedValue& value : key) group.by.push_back(value.value());
        group.count = numbers.count;
        group.sum = numbers.sum;
        group.min = numbers.min;
        group.max = numbers.max;
        group.over_ns = numbers.over_ns;
        group.buckets = numbers.buckets;
    }
    return out;
}

}  // namespace mlbcc::event
