// Other rules in the middle of a trace: the plan before is gone when those after are at work.
#include <gtest/gtest.h>

#include <memory>

#include "event/pipeline.h"
#include "event/test_plan.h"

namespace mlbcc::event {
namespace {

using namespace mlbcc::test;
using rules::GaugeOp;

// A span, a gauge by handle, a table of names; `behind`: another probe and gauge stand before them.
struct Rules {
    explicit Rules(bool behind) {
        if (behind) {
            plan::ProbeId other = t.probe("cuOther");
            t.learn(other, End::ret, "other", t.number(other, End::ret, kHex),
                    t.text(other, End::ret, 8));
            t.gauge(other, End::ret, "others", GaugeOp::add, std::nullopt,
                    t.number(other, End::ret, kU32));
        }
        init = t.probe("cuInit");
        t.span(init, "userspace");
        alloc = t.probe("cuMemAlloc");
        uint32_t key = t.number(alloc, End::ret, kHex), size = t.number(alloc, End::ret, kBytes);
        uint32_t name = t.text(alloc, End::ret, 8);
        t.learn(alloc, End::ret, "name", key, name);
        t.gauge(alloc, End::ret, "gpu_bytes", GaugeOp::set, key, size);
        use = t.probe("cuUse");
        t.event(use, End::entry, "use", "", {{"what", t.number(use, End::entry, learnt("name"))}});
    }
    Wire allocates(uint64_t time, uint64_t key, uint64_t size, const char* name) const {
        return Wire::ret(alloc, time - 1, time).number(key).number(size).text(name, 8);
    }
    Wire uses(uint64_t time, uint64_t key) const { return Wire::entry(use, time).number(key); }
    TestPlan t;
    plan::ProbeId init{}, alloc{}, use{};
};

class ChangePlan : public testing::Test {
protected:
    // Ends the first rules and begins with `next`; of the first nothing is left.
    void change(const Rules& next) {
        pipeline->finish_rules();
        pipeline->change_plan(next.t.plan);
        first.reset();
    }
    std::unique_ptr<Rules> first = std::make_unique<Rules>(false);
    Lines lines;
    std::optional<Pipeline> pipeline{std::in_place, first->t.plan, lines};
};

TEST_F(ChangePlan, WhatIsKnownAndHeldGoesOnByName) {
    Rules next(true);
    pipeline->add(0, first->allocates(10, 0x10, 4096, "weights"));
    pipeline->add(0, first->allocates(20, 0x20, 512, "cache"));
    change(next);
    pipeline->add(0, next.allocates(30, 0x20, 0, "gone"));
    pipeline->add(0, next.uses(40, 0x10));
    pipeline->finish();
    EXPECT_EQ(lines.lines, (std::vector<std::string>{"1 i use. @40 what=weights"}));
    std::vector<GaugeState> gauges = pipeline->gauges();
    ASSERT_EQ(gauges.size(), 1u);
    EXPECT_EQ(gauges[0].name, "gpu_bytes");
    EXPECT_EQ(gauges[0].value, 4096);
    EXPECT_EQ(gauges[0].peak, 4608);
    EXPECT_EQ(gauges[0].peak_function, "cuMemAlloc");
    ASSERT_EQ(gauges[0].held.size(), 1u);
    EXPECT_EQ(gauges[0].held[0].key, 0x10u);
    EXPECT_EQ(gauges[0].held[0].key_type.kind, Kind::hex);
}

TEST_F(ChangePlan, WhatNobodyNamesAnyMoreIsForgotten) {
    TestPlan none;
    none.event(none.probe("cuElse"), End::entry, "else", "");
    pipeline->add(0, first->allocates(10, 0x10, 4096, "weights"));
    pipeline->finish_rules();
    pipeline->change_plan(none.plan);
    EXPECT_TRUE(pipeline->gauges().empty());
    Rules again(false);
    first.reset();
    pipeline->change_plan(again.t.plan);
    pipeline->add(0, again.uses(40, 0x10));
    pipeline->finish();
    EXPECT_EQ(lines.lines, (std::vector<std::string>{"1 i use. @40 what=0x10"}));
}

// A call that the old rules had begun ends after others that the new ones have seen.
TEST_F(ChangePlan, WhatComesNextIsNotLate) {
    Rules next(true);
    pipeline->add(0, Wire::entry(first->init, 10));
    pipeline->add(0, Wire::ret(first->init, 10, 90));
    change(next);
    pipeline->add(0, next.uses(40, 0x10));
    pipeline->add(0, next.uses(95, 0x10));
    pipeline->finish();
    EXPECT_EQ(pipeline->totals().late, 0u);
    EXPECT_EQ(lines.lines.size(), 4u);
}

TEST_F(ChangePlan, OpenSpansAreUnmatchedAndIdsGoOn) {
    Rules next(true);
    pipeline->add(0, Wire::entry(first->init, 10));
    pipeline->finish_rules();
    EXPECT_EQ(pipeline->counts({}).unmatched_begin, 1u);
    EXPECT_EQ(pipeline->counts({}).received, 1u);
    pipeline->change_plan(next.t.plan);
    first.reset();
    EXPECT_EQ(pipeline->counts({}).unmatched_begin, 0u);
    EXPECT_EQ(pipeline->counts({}).received, 0u);
    pipeline->add(0, Wire::entry(next.init, 20));
    pipeline->add(0, Wire::ret(next.init, 20, 30));
    pipeline->finish();
    EXPECT_EQ(lines.lines, (std::vector<std::string>{"1 B cuInit @10", "2 B cuInit @20",
                                                     "3 E cuInit @30 begin=2 took=10"}));
    EXPECT_EQ(pipeline->totals().threads, 1u);
    ASSERT_EQ(pipeline->function_times().size(), 1u);
    EXPECT_EQ(pipeline->function_times()[0].calls, 1u);
}

}  // namespace
}  // namespace mlbcc::event
