// The largest of a list: which are kept, in which order, and what of them.
#include "event/largest.h"

#include <gtest/gtest.h>

#include "event/test_plan.h"

namespace mlbcc::event {
namespace {

using namespace mlbcc::test;

// Records of `use(key, value)`, kept by value: "value key @time", the largest first.
class LargestOf : public testing::Test {
protected:
    LargestOf() {
        use = t.probe("use");
        key = t.number(use, End::ret, kU64);
        value = t.number(use, End::ret, {Kind::signed_int, 8});
    }
    void keep(uint32_t count, bool is_signed, uint32_t mask = 1) {
        t.plan.lists.push_back({{}, "Largest", "value", count, {}, is_signed});
        plan::LargestEmit emit{list, t.late(use, End::ret, value), {{"key", key, mask, nullptr}}};
        t.emit(use, End::ret, std::move(emit), mask);
    }
    Wire record(uint64_t time, uint64_t key_is, int64_t value_is, uint32_t hits = 1) {
        return Wire::ret(use, time, time + 5, hits)
            .number(key_is)
            .number(static_cast<uint64_t>(value_is));
    }
    std::string run(std::vector<Wire> records) {
        pipeline.emplace(t.plan, lines);
        for (Wire& one : records) pipeline->add(0, one);
        pipeline->finish();
        std::string out;
        for (const LargestEntry& one : pipeline->largest().entries(list)) {
            out += fmt::format("{} {} @{}; ", static_cast<int64_t>(one.bits),
                               value_text(one.values.at(0).value), one.time_ns);
        }
        return out;
    }
    TestPlan t;
    plan::ProbeId use{};
    uint32_t key = 0, value = 0;
    plan::ListId list{};
    Lines lines;
    std::optional<Pipeline> pipeline;
};

TEST_F(LargestOf, AreInOrderAndOfEqualOnesTheFirstStays) {
    keep(3, true);
    EXPECT_EQ(run({record(10, 1, 5), record(20, 2, 7), record(30, 3, 5), record(40, 4, 9),
                   record(50, 5, 7), record(60, 6, 9), record(70, 7, 7)}),
              "9 4 @40; 9 6 @60; 7 2 @20; ");
    EXPECT_EQ(pipeline->largest().calls(list), 7u);
}

TEST_F(LargestOf, AreFewerWhereThereAreNoMore) {
    keep(3, true);
    EXPECT_EQ(run({record(10, 1, 5), record(20, 2, -7)}), "5 1 @10; -7 2 @20; ");
    EXPECT_EQ(run({}), "");
    EXPECT_EQ(pipeline->largest().calls(list), 0u);
}

TEST_F(LargestOf, UnsignedValuesAreNotNegative) {
    keep(1, false);
    EXPECT_EQ(run({record(10, 1, 5), record(20, 2, -7)}), "-7 2 @20; ");
}

TEST_F(LargestOf, ThousandsKeepNoMoreThanAskedFor) {
    keep(2, true);
    std::vector<Wire> records;
    for (int64_t i = 0; i < 5000; ++i) {
        records.push_back(record(10 + static_cast<uint64_t>(i), 1, i * 7919 % 5000));
    }
    EXPECT_EQ(run(std::move(records)).find("4999 1 @"), 0u);
    EXPECT_EQ(pipeline->largest().entries(list).size(), 2u);
    EXPECT_EQ(pipeline->largest().entries(list).at(1).bits, 4998u);
}

TEST_F(LargestOf, OnlyCallsOfTheRuleCount) {
    t.rule("cuda.rules:2");
    keep(3, true, 2);
    t.event(use, End::ret, "e", "", {}, 1);
    EXPECT_EQ(run({record(10, 1, 5, 1), record(20, 2, 7, 2), record(30, 3, 1, 3)}),
              "7 2 @20; 1 3 @30; ");
    EXPECT_EQ(pipeline->largest().calls(list), 2u);
}

TEST_F(LargestOf, SeeWhatTheirRecordHasLearnt) {
    t.learn(use, End::ret, "names", key, value);
    plan::LatePtr known = TestPlan::late(
        plan::LateLearnt{"names", t.late(use, End::ret, key), rules::LearntAs::number},
        {Kind::signed_int, 8});
    t.plan.lists.push_back({{}, "Known", "known", 2, {}, true});
    t.emit(use, End::ret, plan::LargestEmit{list, known, {{"key", key, 1, nullptr}}});
    EXPECT_EQ(run({record(10, 1, 5), record(20, 1, 8)}), "8 1 @20; 5 1 @10; ");
}

TEST_F(LargestOf, HaveTheirThread) {
    keep(3, true);
    Wire one = record(10, 1, 5);
    one.thread(70, 71, "worker");
    run({one});
    LargestEntry entry = pipeline->largest().entries(list).at(0);
    EXPECT_EQ(entry.pid, 70u);
    EXPECT_EQ(entry.tid, 71u);
    EXPECT_EQ(entry.comm, "worker");
    EXPECT_TRUE(entry.stack.empty());
}

TEST(Stacks, AreHeldAsLongAsTheyAreUsed) {
    symbols::StackTable table(1);
    const std::vector<uint64_t> one{1}, two{2};
    const std::vector<std::string> frames{"app:f", "app:main"};
    symbols::Stack* stack = table.add(0, one, frames);
    ASSERT_NE(stack, nullptr);
    plan::ValueType type{Kind::text};
    OwnedValue value({&type, 0, stack->frames[0], true, false, stack});
    {
        OwnedValue copy = value;
        EXPECT_EQ(stack->uses, 2u);
        EXPECT_EQ(copy.value().stack, stack);
        EXPECT_EQ(copy.value().text, "app:f");
        OwnedValue moved = std::move(copy);
        EXPECT_EQ(stack->uses, 2u);
        value = moved;
        EXPECT_EQ(stack->uses, 2u);
    }
    EXPECT_EQ(stack->uses, 1u);
    EXPECT_EQ(table.add(0, two, frames), nullptr) << "the only one is in use";
    value = OwnedValue();
    EXPECT_EQ(stack->uses, 0u);
    EXPECT_NE(table.add(0, two, frames), nullptr);
}

}  // namespace
}  // namespace mlbcc::event
