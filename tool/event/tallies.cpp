#include "event/tallies.h"

#include <algorithm>

#include "base/groups.h"

namespace mlbcc::event {

Tallies::Numbers* Tallies::group(plan::AggregateId aggregate, std::span<const Value> by) {
    if (aggregates_.size() < plan_.aggregates.size()) aggregates_.resize(plan_.aggregates.size());
    auto& groups = aggregates_[static_cast<uint32_t>(aggregate)];
    key_.clear();
    for (const Value& value : by) key_.emplace_back(value);
    auto found = groups.find(key_);
    if (found != groups.end()) return &found->second;
    if (groups.size() < groups::kMost) return &groups[key_];
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
    const bool is_signed = plan_.aggregates[static_cast<uint32_t>(aggregate)].is_signed;
    const uint64_t order = buckets::ordered(value, is_signed);
    numbers->min = std::min(numbers->min, order);
    numbers->max = std::max(numbers->max, order);
    ++numbers->buckets.at(buckets::bucket_of(value, is_signed));
}

std::vector<TallyGroup> Tallies::groups(plan::AggregateId aggregate) const {
    std::vector<TallyGroup> out;
    if (static_cast<uint32_t>(aggregate) >= aggregates_.size()) return out;
    const bool is_signed = plan_.aggregates[static_cast<uint32_t>(aggregate)].is_signed;
    for (const auto& [key, numbers] : aggregates_[static_cast<uint32_t>(aggregate)]) {
        TallyGroup& group = out.emplace_back();
        for (const OwnedValue& value : key) group.by.push_back(value.value());
        group.count = numbers.count;
        group.sum = numbers.sum;
        group.min = buckets::ordered(numbers.min, is_signed);
        group.max = buckets::ordered(numbers.max, is_signed);
        group.over_ns = numbers.over_ns;
        group.buckets = numbers.buckets;
    }
    return out;
}

}  // namespace mlbcc::event
