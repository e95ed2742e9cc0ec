#include "base/buckets.h"

#include <gtest/gtest.h>

#include <vector>

namespace mlbcc::buckets {
namespace {

// Those where something may go wrong: next to powers of two, and the ends.
std::vector<uint64_t> edges() {
    std::vector<uint64_t> all{0, 1, UINT64_MAX, uint64_t{1} << 63};
    for (int power = 1; power < 64; ++power) {
        for (int near = -1; near <= 1; ++near) {
            const uint64_t value = (uint64_t{1} << power) + static_cast<uint64_t>(near);
            all.push_back(value);
            all.push_back(0 - value);
        }
    }
    return all;
}

TEST(Buckets, AValueLiesWithinTheBoundsOfItsBucket) {
    for (bool is_signed : {false, true}) {
        for (uint64_t value : edges()) {
            const size_t bucket = bucket_of(value, is_signed);
            ASSERT_LT(bucket, is_signed ? kSigned : kUnsigned);
            const Bounds bounds = bounds_of(bucket, is_signed);
            const auto order = [&](uint64_t bits) { return ordered(bits, is_signed); };
            EXPECT_LE(order(bounds.low), order(value)) << value;
            const bool is_last = value == ordered(UINT64_MAX, is_signed);
            EXPECT_TRUE(order(value) < order(bounds.high) || is_last) << value;
        }
    }
}

TEST(Buckets, FollowEachOtherWithoutGaps) {
    for (bool is_signed : {false, true}) {
        std::vector<Bounds> all;
        for_each_bucket(is_signed,
                        [&](size_t bucket) { all.push_back(bounds_of(bucket, is_signed)); });
        EXPECT_EQ(all.size(), is_signed ? kSigned : kUnsigned);
        EXPECT_EQ(ordered(all.front().low, is_signed), 0u);
        EXPECT_EQ(ordered(all.back().high, is_signed), UINT64_MAX);
        for (size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i - 1].high, all[i].low) << i;
    }
}

TEST(Buckets, OfSmallNumbers) {
    const auto bounds = [](int64_t value) {
        const Bounds of = bounds_of(bucket_of(static_cast<uint64_t>(value), true), true);
        return std::pair(static_cast<int64_t>(of.low), static_cast<int64_t>(of.high));
    };
    EXPECT_EQ(bounds(0), std::pair(int64_t{0}, int64_t{1}));
    EXPECT_EQ(bounds(-1), std::pair(int64_t{-1}, int64_t{0}));
    EXPECT_EQ(bounds(-2), std::pair(int64_t{-2}, int64_t{-1}));
    EXPECT_EQ(bounds(-11), std::pair(int64_t{-16}, int64_t{-8}));
    EXPECT_EQ(bounds(11), std::pair(int64_t{8}, int64_t{16}));
}

}  // namespace
}  // namespace mlbcc::buckets
