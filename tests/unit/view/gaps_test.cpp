#include "view/gaps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace mlbcc::view {
namespace {

using Pair = std::pair<uint64_t, uint64_t>;

std::vector<Pair> longest(const Gaps& gaps, size_t most, uint64_t to) {
    std::vector<Pair> out;
    for (const Gap& one : gaps.longest(most, to)) out.emplace_back(one.begin_ns, one.end_ns);
    return out;
}

TEST(GapsTest, AreBetweenCallsLongestFirst) {
    Gaps gaps(0);
    gaps.add(0, 10);
    gaps.add(5, 20);
    gaps.add(30, 40);
    EXPECT_EQ(longest(gaps, 9, 55), (std::vector<Pair>{{40, 55}, {20, 30}}));
    EXPECT_EQ(longest(gaps, 1, 55), (std::vector<Pair>{{40, 55}}));
    EXPECT_EQ(longest(gaps, 9, 40), (std::vector<Pair>{{20, 30}}));
}

TEST(GapsTest, OfNothingIsAll) {
    EXPECT_EQ(longest(Gaps(7), 9, 20), (std::vector<Pair>{{7, 20}}));
}

TEST(GapsTest, ALongCallThatEndsLateClosesThem) {
    Gaps gaps(0);
    gaps.add(10, 20);
    gaps.add(30, 40);
    gaps.add(50, 60);
    gaps.add(35, 70);
    EXPECT_EQ(longest(gaps, 9, 70), (std::vector<Pair>{{0, 10}, {20, 30}}));
    gaps.add(5, 25);
    EXPECT_EQ(longest(gaps, 9, 70), (std::vector<Pair>{{0, 5}, {25, 30}}));
}

TEST(GapsTest, AnInstantMakesTwoOfOne) {
    Gaps gaps(0);
    gaps.add(100, 100);
    gaps.add(40, 40);
    EXPECT_EQ(longest(gaps, 9, 100), (std::vector<Pair>{{40, 100}, {0, 40}}));
}

TEST(GapsTest, TheLongestOfMany) {
    Gaps gaps(0);
    std::mt19937 random(1);
    std::vector<uint64_t> lengths;
    uint64_t at = 0;
    for (int i = 0; i < 100'000; ++i) {
        uint64_t length = i % 3 == 0 ? 5 : random() % 1'000'000;
        at += length;
        if (length > 0) lengths.push_back(length);
        gaps.add(at, at + 10);
        at += 10;
    }
    std::ranges::sort(lengths, std::greater<>());
    std::vector<uint64_t> found;
    for (const Gap& one : gaps.longest(1000, at)) found.push_back(one.length_ns());
    lengths.resize(1000);
    EXPECT_EQ(found, lengths);
}

TEST(GapsTest, ManyEquallyLongOnesLeaveRoomForALongOne) {
    Gaps gaps(0);
    for (uint64_t i = 1; i < 50'000; ++i) gaps.add(i * 10, i * 10 + 5);
    gaps.add(1'000'000, 1'000'001);
    EXPECT_EQ(longest(gaps, 1, 1'000'001), (std::vector<Pair>{{499'995, 1'000'000}}));
}

}  // namespace
}  // namespace mlbcc::view
