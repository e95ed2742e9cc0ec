// Counts, sums and distributions that the tracer keeps, because what they are grouped by is known
// to it alone: (aggregate, group) -> numbers, as the kernel's maps have them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/buckets.h"
#include "event/bag.h"
#include "event/event.h"

namespace mlbcc::event {

class Tallies {
public:
    // `plan` must outlive it, and may grow.
    explicit Tallies(const plan::Plan& plan) : plan_(plan) {}

    // One call more: `times` of them with the same values.
    void count(plan::AggregateId aggregate, std::span<const Value> by, uint64_t times = 1);
    void add(plan::AggregateId aggregate, std::span<const Value> by, uint64_t value,
             uint64_t over_ns);

    // What the groups point at lives until the next change.
    std::vector<TallyGroup> groups(plan::AggregateId aggregate) const;
    uint64_t refused() const { return refused_; }  // calls whose group found no room

private:
    using Key = std::vector<OwnedValue>;
    struct Numbers {
        uint64_t count = 0, sum = 0, over_ns = 0;
        uint64_t min = UINT64_MAX, max = 0;  // ordered()
        buckets::Counts buckets{};
    };
    Numbers* group(plan::AggregateId aggregate, std::span<const Value> by);

    const plan::Plan& plan_;
    std::vector<std::map<Key, Numbers>> aggregates_;  // by AggregateId
    Key key_;
    uint64_t refused_ = 0;
};

}  // namespace mlbcc::event
