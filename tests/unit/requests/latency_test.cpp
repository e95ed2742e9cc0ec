#include "requests/latency.h"

#include <gtest/gtest.h>

namespace mlbcc::requests {
namespace {

TEST(Latency, quantiles_are_right_to_half_a_percent) {
    for (uint64_t unit : {1ull, 1000ull, 7'000'001ull}) {
        Latency all;
        for (uint64_t i = 1; i <= 1000; ++i) all.add(i * unit);
        for (double q : {0.5, 0.9, 0.99, 0.999}) {
            double exact = q * 1000 * static_cast<double>(unit);
            EXPECT_NEAR(static_cast<double>(all.quantile(q)), exact, exact * 0.005) << unit;
        }
        EXPECT_EQ(all.max(), 1000 * unit);
        EXPECT_LE(all.quantile(1), all.max());
    }
}

TEST(Latency, nothing_and_the_longest) {
    Latency all;
    EXPECT_EQ(all.quantile(0.5), 0u);
    all.add(UINT64_MAX);
    EXPECT_EQ(all.count(), 1u);
    EXPECT_EQ(all.max(), UINT64_MAX);
    EXPECT_GT(all.quantile(0.5), uint64_t{1} << 44);
}

}  // namespace
}  // namespace mlbcc::requests
