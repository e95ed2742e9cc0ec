#include "profile/long_waits.h"

#include <gtest/gtest.h>

#include "saved/made.h"

namespace mlbcc::profile {
namespace {

using namespace mlbcc::test;

saved::EventFields wait(uint64_t end_ns, uint32_t tid, uint64_t waited,
                        std::vector<std::string_view> stack) {
    saved::EventFields one = event_fields("off_cpu", "wait", end_ns - waited, 1, tid, {}, waited);
    one.stack = std::move(stack);
    return one;
}

TEST(LongWaits, AreAddedUpByStack) {
    LongWaits waits;
    waits.add(wait(100, 1, 30, {"read", "app.py:load"}));
    waits.add(wait(200, 2, 50, {"read", "app.py:load"}));
    waits.add(wait(300, 1, 20, {"read", "app.py:load"}));
    waits.add(wait(400, 1, 70, {"read"}));
    waits.add(wait(500, 3, 10, {}));
    waits.add(event_fields("off_cpu", "other", 1, 1, 1));
    LongWaitReport report = waits.report();
    ASSERT_EQ(report.waits.size(), 3u);
    const LongWait& first = report.waits[0];
    EXPECT_EQ(first.stack, (std::vector<std::string>{"read", "app.py:load"}));
    EXPECT_EQ(first.waits, 3u);
    EXPECT_EQ(first.total_ns, 100u);
    EXPECT_EQ(first.max_ns, 50u);
    EXPECT_EQ(first.tid, 2u);
    EXPECT_EQ(first.longest_ns, 200u);
    EXPECT_EQ(first.threads.size(), 2u);
    EXPECT_EQ(report.waits[1].total_ns, 70u);
    EXPECT_TRUE(report.waits[2].stack.empty());
    EXPECT_EQ(report.left_out, 0u);
}

TEST(LongWaits, OfTooManyStacksTheOthersAreCounted) {
    LongWaits waits(2);
    for (int i = 0; i < 3; ++i) {
        waits.add(wait(9, 1, 5, {"a"}));
        waits.add(wait(9, 1, 6, {"b"}));
        waits.add(wait(9, 1, 7, {"c"}));
    }
    EXPECT_EQ(waits.report().waits.size(), 2u);
    EXPECT_EQ(waits.report().left_out, 3u);
}

TEST(LongWaits, TheLongestAreShown) {
    std::vector<std::string> names;
    for (int i = 0; i < 60; ++i) names.push_back("f" + std::to_string(i));
    LongWaits waits;
    for (size_t i = 0; i < 60; ++i) waits.add(wait(100, 1, i + 1, {names[i]}));
    LongWaitReport report = waits.report();
    ASSERT_EQ(report.waits.size(), 50u);
    EXPECT_EQ(report.waits.front().stack.front(), "f59");
    EXPECT_EQ(report.left_out, 10u);
}

}  // namespace
}  // namespace mlbcc::profile
