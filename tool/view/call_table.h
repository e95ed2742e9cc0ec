// Calls to a row a name: how often, how long in all, and how long by buckets, from which quantiles
// are told within 1.6 %.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mlbcc::view {

class CallTable {
public:
    struct Row {
        std::string type, name;
        uint64_t count = 0;  // calls and instants
        uint64_t timed = 0;  // calls whose end is known
        uint64_t total_ns = 0, min_ns = UINT64_MAX, max_ns = 0;
        std::map<uint32_t, uint64_t> buckets;  // as bucket_of() numbers them
    };
    using Id = uint32_t;

    Id id_of(std::string_view type, std::string_view name);
    void count(Id id) { ++rows_[id].count; }
    void time(Id id, uint64_t duration_ns);
    const std::vector<Row>& rows() const { return rows_; }

    // 32 to each power of two: 0 .. 31 are themselves, 64 and 65 are one.
    static uint32_t bucket_of(uint64_t ns);
    static uint64_t begin_of(uint32_t bucket);
    // The middle of the bucket in which `share` of the calls are over; 0 without any.
    static uint64_t quantile(const Row& row, double share);

private:
    static constexpr size_t kRows = 1 << 14;  // names beyond that share the last row

    std::unordered_map<std::string, Id> ids_;
    std::vector<Row> rows_;
    std::string key_;
};

}  // namespace mlbcc::view
