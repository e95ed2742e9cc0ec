// What tracing cost, from hits, traps, and the time that programs took for some records.
#include "account/tracing_cost.h"

#include <vector>

#include <gtest/gtest.h>

#include "event/test_plan.h"

namespace mlbcc::account {
namespace {

using namespace mlbcc::test;

constexpr bpf::HitCost kHit{{600, 1000}, {1600, 3000}, 150, 200, 9000};

class Cost : public ::testing::Test {
protected:
    void probe(const std::string& symbol, bool returns) {
        const plan::ProbeId id = t.probe(symbol);
        auto& made = t.plan.probes[static_cast<uint32_t>(id)];
        made.parts.push_back({plan::RuleId{}, false, true, returns});
        ids.push_back(id);
    }
    // Hits and calls let go, of the probes in their order; the plan may move them until then.
    sink::TracingCost cost(const std::vector<codegen::ProbeWork>& work,
                           std::optional<uint64_t> cpu_ns, bool session = true) {
        std::vector<WorkOf> all;
        for (size_t i = 0; i < work.size(); ++i)
            all.push_back({&t.plan.probes[static_cast<uint32_t>(ids[i])], work[i], session});
        return tracing_cost(all, kHit, cpu_ns);
    }

    // Of one probe that was hit 1000 times, close to each other.
    uint64_t stepped(bool entry, bool end, bool moving) {
        auto& made = t.plan.probes[static_cast<uint32_t>(ids[0])];
        made.stacks = moving ? target::Stacks::unwound : target::Stacks::steady;
        const WorkOf all[] = {{&made, {.hits = 1000}, !moving, entry, end}};
        return tracing_cost(all, kHit, std::nullopt).ns;
    }

    TestPlan t;
    std::vector<plan::ProbeId> ids;
};

TEST_F(Cost, IsHitsTimesTrapsWhereHitsAreClose) {
    probe("cuInit", false);
    EXPECT_EQ(cost({{.hits = 1000}}, 1'000'000).ns, 600'000u);
    EXPECT_EQ(cost({{.hits = 1000}}, std::nullopt).ns, 600'000u);
}

TEST_F(Cost, OfAHitAfterOtherWorkIsMore) {
    probe("cuInit", true);
    EXPECT_EQ(cost({{.hits = 10}}, 1'000'000'000).ns, 30'000u);
    const uint64_t between = cost({{.hits = 1000}}, 6'324'555).ns;  // the middle, by its logarithm
    EXPECT_NEAR(static_cast<double>(between), 2'000'000, 1'000);
}

TEST_F(Cost, OfACallThatIsLetGoIsThatOfItsBeginning) {
    probe("cuInit", true);
    EXPECT_EQ(cost({{.hits = 1000, .let_go = 400}}, 1'000'000).ns, 840'000u);
    EXPECT_EQ(cost({{.hits = 1000, .let_go = 400}}, 1'000'000, false).ns, 1'000'000u)
        << "only a session can do without the end's probe";
}

TEST_F(Cost, HasWhatTheKernelSingleSteps) {
    probe("cuInit", true);
    EXPECT_EQ(stepped(false, false, false), 1'000'000u);
    EXPECT_EQ(stepped(true, true, false), 10'000'000u) << "its end is a return probe";
    EXPECT_EQ(stepped(false, false, true), 1'200'000u) << "a probe at each end";
    EXPECT_EQ(stepped(false, true, true), 10'200'000u);
    EXPECT_EQ(stepped(true, true, true), 19'200'000u);
}

TEST_F(Cost, HasTheTimeOfRecords) {
    probe("cuInit", false);
    probe("cuMemAlloc", false);
    const sink::TracingCost few = cost({{.hits = 100, .records = 100}}, 100'000);
    EXPECT_EQ(few.ns, 100u * 800) << "where none was timed, as measured";
    const sink::TracingCost all =
        cost({{.hits = 1000, .records = 1000, .timed = 10'000, .timed_ns = 8'000'000},
              {.hits = 10, .records = 10}},
             2'000'000);
    ASSERT_EQ(all.functions.size(), 2u);
    EXPECT_EQ(all.functions[0].function, "cuInit");
    EXPECT_EQ(all.functions[0].hits, 1000u);
    EXPECT_NEAR(static_cast<double>(all.functions[0].ns), 1000 * 1400, 1000);
    EXPECT_NEAR(static_cast<double>(all.functions[1].ns), 10 * 1400, 10) << "as of others";
}

TEST_F(Cost, IsNeverMoreThanTheThreadsTime) {
    probe("cuInit", false);
    const sink::TracingCost all = cost({{.hits = 1000}}, 500'000);
    EXPECT_EQ(all.ns, 500'000u);
    EXPECT_TRUE(all.exceeds(0.2));
    EXPECT_FALSE(cost({{.hits = 100}}, 500'000).exceeds(0.2));
    EXPECT_FALSE(cost({{.hits = 1000}}, std::nullopt).exceeds(0.2)) << "of what is not known";
}

TEST_F(Cost, NamesWhatWasNeverHitNowhere) {
    probe("cuInit", false);
    probe("cuMemAlloc", false);
    EXPECT_EQ(cost({{.hits = 1}, {}}, 1'000'000).functions.size(), 1u);
}

}  // namespace
}  // namespace mlbcc::account
