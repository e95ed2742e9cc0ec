#include "view/call_table.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace mlbcc::view {
namespace {

constexpr uint32_t kParts = 32, kPartBits = 5;  // of each power of two

}  // namespace

CallTable::Id CallTable::id_of(std::string_view type, std::string_view name) {
    bool is_full = rows_.size() >= kRows;
    key_.assign(type).append(1, '\0').append(name);
    auto found = ids_.find(key_);
    if (found != ids_.end()) return found->second;
    if (is_full) return static_cast<Id>(rows_.size() - 1);
    bool is_last = rows_.size() + 1 == kRows;
    rows_.push_back({std::string(is_last ? "" : type), std::string(is_last ? "(others)" : name)});
    return ids_[key_] = static_cast<Id>(rows_.size() - 1);
}

void CallTable::time(Id id, uint64_t duration_ns) {
    Row& row = rows_[id];
    ++row.timed;
    row.total_ns += duration_ns;
    row.min_ns = std::min(row.min_ns, duration_ns);
    row.max_ns = std::max(row.max_ns, duration_ns);
    ++row.buckets[bucket_of(duration_ns)];
}

uint32_t CallTable::bucket_of(uint64_t ns) {
    if (ns < kParts) return static_cast<uint32_t>(ns);
    uint32_t shift = static_cast<uint32_t>(std::bit_width(ns)) - 1 - kPartBits;
    return (shift + 1) * kParts + static_cast<uint32_t>(ns >> shift) - kParts;
}

uint64_t CallTable::begin_of(uint32_t bucket) {
    if (bucket < kParts) return bucket;
    return uint64_t{bucket % kParts + kParts} << (bucket / kParts - 1);
}

uint64_t CallTable::quantile(const Row& row, double share) {
    auto wanted = static_cast<uint64_t>(std::ceil(share * static_cast<double>(row.timed)));
    uint64_t seen = 0;
    for (auto [bucket, count] : row.buckets) {
        seen += count;
        if (seen < wanted) continue;
        uint64_t middle = begin_of(bucket) + (begin_of(bucket + 1) - begin_of(bucket)) / 2;
        return std::clamp(middle, row.min_ns, row.max_ns);
    }
    return 0;
}

}  // namespace mlbcc::view
