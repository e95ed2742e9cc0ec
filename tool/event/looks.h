// What rules make of looks at processes. The kernel does this for every other probe; here the
// tracer does it itself: conditions, a record as the plan lays it out, counts, sums and histograms.
//
//   Look{resident = 64 MiB, ...}  ->  the bytes of a record, as if it came from a ring
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "event/evaluate.h"
#include "plan/plan.h"

namespace mlbcc::event {

// A group of an aggregate, as plan::Aggregate lays its key out.
struct LookGroup {
    uint64_t count = 0, sum = 0, min = UINT64_MAX, max = 0;
    std::array<uint64_t, 64> buckets{};  // buckets[i]: 2^(i-1) <= value < 2^i; [0] is 0 and below
};
using LookGroups = std::map<std::vector<std::byte>, LookGroup>;  // by key

class Looks {
public:
    explicit Looks(const plan::Plan& plan) : plan_(plan) {}

    // The record to be written; empty if no rule wants one. It lives until the next call.
    std::span<const std::byte> take(const Look& look);

    const LookGroups& groups(plan::AggregateId aggregate) const;
    // Updates of a rule's counts that found no room for another group.
    uint64_t full(plan::RuleId rule) const;
    // Records that were made, of a rule.
    uint64_t submitted(plan::RuleId rule) const;

private:
    void aggregate(const plan::AggregateUse& use, const Evaluator& evaluator, const Look& look);
    void write_record(const plan::RecordPlan& record, uint32_t hits, const Evaluator& evaluator,
                      const Look& look);
    struct Account {
        uint64_t submitted = 0, full = 0;
    };
    Account& account(plan::RuleId rule);

    const plan::Plan& plan_;
    std::vector<LookGroups> groups_;  // by AggregateId
    std::vector<Account> accounts_;   // by RuleId
    std::vector<std::byte> record_;
};

}  // namespace mlbcc::event
