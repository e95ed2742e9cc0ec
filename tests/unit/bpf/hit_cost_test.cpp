// What a hit costs here, and how that is kept.
#include "bpf/hit_cost.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "bpf/abilities.h"

namespace mlbcc::bpf {
namespace {

// A measurement in between other work may make no sense; in a minute one does.
void expect_sense(FunctionLinks by) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < end) {
        const Result<HitCost> cost = measure_hit_cost(by);
        ASSERT_TRUE(cost) << cost.error().message();
        EXPECT_GE(cost->cold.entry, cost->hot.entry);
        EXPECT_GE(cost->cold.both, cost->hot.both);
        EXPECT_GE(cost->syscall, 0);
        EXPECT_GE(cost->record, 0);
        EXPECT_GE(cost->step, 0);
        if (cost->is_plausible()) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ADD_FAILURE() << "both ends never cost more than one, or hits far apart more than others";
}

TEST(HitCost, OfBothEndsIsMoreThanOfOneHoweverProbesAttach) {
    const Abilities found = try_abilities();
    if (!found.uprobe.works) GTEST_SKIP() << "no uprobes";
    expect_sense({found.uprobe_session.works, found.uprobe_multi.works});
    expect_sense({false, found.uprobe_multi.works});
    expect_sense({});
}

TEST(HitCost, IsKeptAsALine) {
    const HitCost cost{{600.5, 1000}, {1600, 3000.2}, 150, 90, 9000.5};
    const auto read = read_hit_cost(to_text(cost));
    ASSERT_TRUE(read);
    EXPECT_EQ(to_text(*read), to_text(cost));
    EXPECT_EQ(read->cold.both, 3000.2);
    EXPECT_EQ(read->step, 9000.5);
    EXPECT_TRUE(read->is_plausible());
    EXPECT_FALSE(HitCost{}.is_plausible());
    EXPECT_FALSE(read_hit_cost(""));
    EXPECT_FALSE(read_hit_cost("600 1000 what"));
}

}  // namespace
}  // namespace mlbcc::bpf
