#include "event/pipeline.h"

#include <gtest/gtest.h>

#include "event/test_plan.h"

namespace mlbcc::event {
namespace {

using namespace mlbcc::test;
using Change = plan::ProcessChange;
using Text = std::vector<std::string>;

class Pipelines : public testing::Test {
protected:
    Pipelines() {
        init = t.probe("cuInit");
        t.span(init, "userspace", {{"Flags", t.number(init, End::entry, kU32)}});
        t.record(init, End::ret).emits.clear();
        t.returns(init, t.enumeration({{"CUDA_SUCCESS", 0}}));
        t.record(init, End::ret).emits.push_back({1, {}, {}, plan::SpanEmit{"userspace", {}}});
        alloc = t.probe("cuMemAlloc", "cuMemAlloc_v2");
        uint32_t address = t.number(alloc, End::ret, kHex),
                 size = t.number(alloc, End::ret, kBytes);
        t.event(alloc, End::ret, "memory", "alloc", {{"address", address}, {"size", size}});
        t.gauge(alloc, End::ret, "gpu_bytes", rules::GaugeOp::set, address, size);
    }
    Wire begin(uint64_t time, uint64_t flags = 0) { return Wire::entry(init, time).number(flags); }
    Wire end(uint64_t start, uint64_t time) { return Wire::ret(init, start, time).number(0); }
    Wire whole(uint64_t start, uint64_t time, uint64_t address = 0x10, uint64_t size = 4096) {
        return Wire::ret(alloc, start, time).number(address).number(size);
    }
    // All records on one ring, then the end.
    Text run(std::vector<Wire> records) {
        pipeline.emplace(t.plan, lines);
        for (Wire& record : records) pipeline->add(0, record);
        pipeline->finish();
        return lines.lines;
    }
    RuleCounts counts(uint32_t rule = 0) const {
        return pipeline->counts(static_cast<plan::RuleId>(rule));
    }

    TestPlan t;
    plan::ProbeId init{}, alloc{};
    Lines lines;
    std::optional<Pipeline> pipeline;
};

// Also where one advance() gives all.
TEST_F(Pipelines, AMomentIsReachedWhenAllBeforeItWasGiven) {
    pipeline.emplace(t.plan, lines);
    pipeline->add(0, begin(100));
    pipeline->add_moment(150);
    pipeline->add_loss({120, 1, 3, {}});
    pipeline->add(0, end(100, 200));
    pipeline->advance(1'000'000'000);
    EXPECT_EQ(lines.lines, (Text{"1 B cuInit @100 Flags=0", "2 lost 3 @120", "reached 150",
                                 "3 E cuInit @200 begin=1 took=100 ret=CUDA_SUCCESS"}));
    pipeline->add_moment(1'000'000'000);
    pipeline->finish();
    EXPECT_EQ(lines.lines.back(), "reached 1000000000");
}

TEST_F(Pipelines, MakesEventsOfRecords) {
    EXPECT_EQ(run({begin(10, 5), whole(20, 30), end(10, 40)}),
              (Text{"1 B cuInit @10 Flags=5",
                    "2 X memory.alloc @20 parent=1 took=10 address=0x10 size=4096",
                    "3 E cuInit @40 begin=1 took=30 ret=CUDA_SUCCESS"}));
    EXPECT_EQ(counts().received, 3u);
    EXPECT_EQ(counts().unmatched_begin + counts().unmatched_end, 0u);
    EXPECT_EQ(pipeline->totals().events, 3u);
    EXPECT_EQ(pipeline->totals().processes, 1u);
}

TEST_F(Pipelines, MergesTheRings) {
    pipeline.emplace(t.plan, lines);
    pipeline->add(0, begin(10));
    pipeline->add(0, end(10, 50));
    pipeline->add(1, begin(20).thread(70, 71));
    pipeline->add(1, end(20, 40).thread(70, 71));
    pipeline->finish();
    EXPECT_EQ(lines.lines, (Text{"1 B cuInit @10 Flags=0", "2 B cuInit @20 Flags=0",
                                 "3 E cuInit @40 begin=2 took=20 ret=CUDA_SUCCESS",
                                 "4 E cuInit @50 begin=1 took=40 ret=CUDA_SUCCESS"}));
    EXPECT_EQ(pipeline->totals().threads, 2u);
}

TEST_F(Pipelines, WaitsForTheWindow) {
    pipeline.emplace(t.plan, lines, PipelineOptions{1000, {}});
    pipeline->add(0, begin(10'000));
    pipeline->advance(10'900);
    EXPECT_EQ(lines.lines.size(), 0u);
    pipeline->advance(11'001);  // less than an eighth of the window later: not yet
    EXPECT_EQ(lines.lines.size(), 0u);
    pipeline->advance(11'100);
    EXPECT_EQ(lines.lines.size(), 1u);
}

TEST_F(Pipelines, CallsLongerThanTheWindowComeLate) {
    pipeline.emplace(t.plan, lines, PipelineOptions{1000, {}});
    pipeline->add(0, begin(9'000));
    pipeline->add(0, begin(10'000).thread(70, 71));
    pipeline->advance(12'000);
    pipeline->add(0, whole(9'500, 12'500));
    pipeline->finish();
    EXPECT_EQ(lines.lines,
              (Text{"1 B cuInit @9000 Flags=0", "2 B cuInit @10000 Flags=0",
                    "3 X memory.alloc @9500 parent=1 took=3000 address=0x10 size=4096"}));
    EXPECT_EQ(pipeline->totals().late, 1u);
}

TEST_F(Pipelines, AnEventBelongsToItsOwnSpan) {
    t.span(alloc, "userspace");
    EXPECT_EQ(
        run({Wire::entry(alloc, 10), whole(10, 30)}),
        (Text{"1 B cuMemAlloc @10", "2 X memory.alloc @10 parent=1 took=20 address=0x10 size=4096",
              "3 E cuMemAlloc @30 begin=1 took=20"}));
}

TEST_F(Pipelines, SpansOfTwoTypesNest) {
    plan::RuleId second = t.rule("cuda.rules:9");
    plan::ProbeId free = t.probe("cuMemFree");
    t.span(free, "userspace");
    t.span(free, "api", {}, {}, 2, second);
    EXPECT_EQ(run({Wire::entry(free, 10, 3), Wire::ret(free, 10, 30, 3)}),
              (Text{"1 B cuMemFree @10", "2 B cuMemFree @10 parent=1",
                    "3 E cuMemFree @30 begin=2 took=20", "4 E cuMemFree @30 begin=1 took=20"}));
    EXPECT_EQ(counts(0).received, 2u);
    EXPECT_EQ(counts(1).received, 2u);
    EXPECT_EQ(pipeline->function_times().size(), 1u);
    EXPECT_EQ(pipeline->function_times()[0].calls, 1u);
}

TEST_F(Pipelines, OnlyWhatWasHitIsShown) {
    plan::RuleId second = t.rule("cuda.rules:9");
    plan::ProbeId copy = t.probe("cuMemcpy");
    uint32_t size = t.number(copy, End::ret, kBytes), to = t.number(copy, End::ret, kHex);
    t.event(copy, End::ret, "copy", "", {{"size", size, 3}, {"to", to, 2}}, 3);
    t.event(copy, End::ret, "large", "", {{"size", size, 2}}, 2, second);
    auto record = [&](uint64_t start, uint32_t hits) {
        return Wire::ret(copy, start, start + 1, hits).number(5).number(6);
    };
    EXPECT_EQ(run({record(10, 1), record(20, 2), record(30, 0)}),
              (Text{"1 X copy. @10 took=1 size=5", "2 X copy. @20 took=1 size=5 to=0x6",
                    "3 X large. @20 took=1 size=5"}));
    EXPECT_EQ(counts(0).received, 1u);
    EXPECT_EQ(counts(1).received, 1u);
}

// A call at the same place on the stack, or further up: what was open below was left by longjmp.
TEST_F(Pipelines, SpansThatWereLeftAreNoParents) {
    EXPECT_EQ(run({begin(10).sp(0x9000), begin(20).sp(0x8000), begin(30).sp(0x7000),
                   begin(40).sp(0x8000), whole(50, 60).sp(0x8800)}),
              (Text{"1 B cuInit @10 Flags=0", "2 B cuInit @20 parent=1 Flags=0",
                    "3 B cuInit @30 parent=2 Flags=0", "4 B cuInit @40 parent=1 Flags=0",
                    "5 X memory.alloc @50 parent=1 took=10 address=0x10 size=4096"}));
    EXPECT_EQ(counts().unmatched_begin, 4u);
}

TEST_F(Pipelines, ATailCallIsInsideWhatMadeIt) {
    EXPECT_EQ(run({begin(10).sp(0x9000), begin(20).sp(0x9000).tail_call(), end(20, 30).sp(0x9000),
                   end(10, 40).sp(0x9000)}),
              (Text{"1 B cuInit @10 Flags=0", "2 B cuInit @20 parent=1 Flags=0",
                    "3 E cuInit @30 begin=2 took=10 ret=CUDA_SUCCESS",
                    "4 E cuInit @40 begin=1 took=30 ret=CUDA_SUCCESS"}));
    EXPECT_EQ(counts().unmatched_begin + counts().unmatched_end, 0u);
}

TEST_F(Pipelines, WhatCouldNotBeReadIsNullAndChangesNothing) {
    plan::ProbeId call = t.probe("call");
    uint32_t key = t.number(call, End::ret, kHex), size = t.number(call, End::ret, kBytes);
    uint32_t handle = t.number(call, End::ret, learnt("names")), name = t.text(call, End::ret, 8);
    t.record(call, End::ret).layout.unread = t.plan.probes[2].ret->layout.size;
    t.plan.probes[2].ret->layout.size += 8;
    t.event(call, End::ret, "call", "", {{"key", key}, {"size", size}, {"handle", handle}});
    t.gauge(call, End::ret, "held", rules::GaugeOp::set, key, size);
    t.learn(call, End::ret, "names", handle, name);
    auto record = [&](uint64_t start, uint64_t number, uint64_t unread) {
        Wire wire = Wire::ret(call, start, start + 1).number(number).number(number).number(number);
        return wire.text("gemm", 8).number(unread);
    };
    EXPECT_EQ(run({record(10, 5, 0), record(20, 6, 1), record(30, 7, 2), record(40, 8, 4)}),
              (Text{"1 X call. @10 took=1 key=0x5 size=5 handle=gemm",
                    "2 X call. @20 took=1 key=null size=6 handle=gemm",
                    "3 X call. @30 took=1 key=0x7 size=null handle=gemm",
                    "4 X call. @40 took=1 key=0x8 size=8 handle=null"}));
    ASSERT_EQ(pipeline->gauges().size(), 1u);
    EXPECT_EQ(pipeline->gauges()[0].value, 5 + 8);
}

TEST_F(Pipelines, InstantsAreInsideTheirSpan) {
    plan::ProbeId note = t.probe("note");
    t.span(note, "userspace");
    t.event(note, End::entry, "mark", "m");
    EXPECT_EQ(run({Wire::entry(note, 10)}), (Text{"1 B note @10", "2 i mark.m @10 parent=1"}));
    EXPECT_EQ(counts().unmatched_begin, 1u);
}

TEST_F(Pipelines, AnEndWithoutABeginIsWritten) {
    EXPECT_EQ(run({end(10, 40)}), (Text{"1 E cuInit @40 took=30 ret=CUDA_SUCCESS"}));
    EXPECT_EQ(counts().unmatched_end, 1u);
}

TEST_F(Pipelines, WhatIsOpenAtTheEndIsUnmatched) {
    run({begin(10), begin(20)});
    EXPECT_EQ(counts().unmatched_begin, 2u);
}

TEST_F(Pipelines, ThreadsAndProcessesEnd) {
    run({begin(10).thread(70, 71), begin(12),
         Wire::process(Change::exit_thread, 20, 0, true).thread(70, 71),
         Wire::process(Change::exit_thread, 30).thread(70, 70), end(12, 40).thread(70, 70)});
    EXPECT_EQ(counts().unmatched_begin, 2u);
    EXPECT_EQ(counts().unmatched_end, 1u);
}

TEST_F(Pipelines, AnExecEndsWhatWasOpenAndHeld) {
    run({begin(10), whole(11, 12), Wire::process(Change::exec, 20, 70), whole(30, 31, 0x20, 7)});
    EXPECT_EQ(counts().unmatched_begin, 1u);
    std::vector<GaugeState> gauges = pipeline->gauges();
    ASSERT_EQ(gauges.size(), 2u);
    EXPECT_EQ(gauges[0].value, 4096);
    EXPECT_EQ(gauges[1].value, 7);
    EXPECT_EQ(pipeline->totals().processes, 1u);
}

TEST_F(Pipelines, CountsForkedProcessesAndThreads) {
    run({Wire::process(Change::fork, 10, 71, true), Wire::process(Change::fork, 20, 80)});
    EXPECT_EQ(pipeline->totals().processes, 2u);
    EXPECT_EQ(pipeline->totals().threads, 3u);
    run({Wire::process(Change::fork, 10, 0)});  // of another pid namespace
    EXPECT_EQ(pipeline->totals().processes, 1u);
}

TEST_F(Pipelines, AForkOfAUsedIdBeginsAnew) {
    run({begin(10).thread(80, 80), Wire::process(Change::fork, 20, 80),
         end(10, 30).thread(80, 80)});
    EXPECT_EQ(counts().unmatched_begin, 1u);
    EXPECT_EQ(counts().unmatched_end, 1u);
}

TEST_F(Pipelines, LossesStandWhereTheyHappened) {
    pipeline.emplace(t.plan, lines);
    pipeline->add(0, begin(10));
    pipeline->add(0, end(10, 40));
    pipeline->add_loss({90, 1, 3, {}});
    pipeline->add_loss({20, 1, 17, {"cuda.rules:1"}});
    pipeline->finish();
    EXPECT_EQ(lines.lines,
              (Text{"1 B cuInit @10 Flags=0", "2 lost 17 @20",
                    "3 E cuInit @40 begin=1 took=30 ret=CUDA_SUCCESS", "4 lost 3 @90"}));
    EXPECT_EQ(pipeline->totals().lost, 20u);
    EXPECT_EQ(pipeline->totals().events, 4u);
}

TEST_F(Pipelines, LearntNamesAreShown) {
    plan::ProbeId get = t.probe("cuModuleGetFunction"), launch = t.probe("cuLaunchKernel");
    uint32_t handle = t.number(get, End::ret, kHex), name = t.text(get, End::ret, 16);
    uint32_t own = t.number(get, End::ret, learnt("kernel"));
    t.event(get, End::ret, "module", "get", {{"kernel", own}});
    t.learn(get, End::ret, "kernel", handle, name);
    t.event(launch, End::entry, "launch", "",
            {{"kernel", t.number(launch, End::entry, learnt("kernel"))}});
    EXPECT_EQ(run({Wire::entry(launch, 5).number(0x77),
                   Wire::ret(get, 10, 20).number(0x77).text("gemm", 16).number(0x77),
                   Wire::entry(launch, 30).number(0x77), Wire::entry(launch, 40).number(0x78),
                   Wire::entry(launch, 50).thread(71, 71).number(0x77)}),
              (Text{"1 i launch. @5 kernel=0x77", "2 X module.get @10 took=10 kernel=gemm",
                    "3 i launch. @30 kernel=gemm", "4 i launch. @40 kernel=0x78",
                    "5 i launch. @50 kernel=0x77"}));
}

TEST_F(Pipelines, GaugesFollowTheEndsOfCalls) {
    run({whole(10, 50, 0x10, 100), whole(20, 30, 0x20, 7), whole(60, 61, 0x10, 0)});
    GaugeState state = pipeline->gauges().at(0);
    EXPECT_EQ(state.value, 7);
    EXPECT_EQ(state.peak, 107);
    EXPECT_EQ(state.peak_time_ns, 50u);
}

TEST_F(Pipelines, TimesFunctions) {
    run({begin(10), end(10, 40), begin(50), end(50, 60), whole(100, 105)});
    std::vector<ProbeTime> times = pipeline->function_times();
    ASSERT_EQ(times.size(), 2u);
    EXPECT_EQ(times[0].probe->function, "cuInit");
    EXPECT_EQ(times[0].calls, 2u);
    EXPECT_EQ(times[0].total_ns, 40u);
    EXPECT_EQ(times[0].max_ns, 30u);
    EXPECT_EQ(times[1].max_ns, 5u);
}

TEST_F(Pipelines, ACallIsTimedOnceWhateverIsToldOfIt) {
    TestPlan two;
    plan::ProbeId call = two.probe("f");
    two.span(call, "user");
    two.event(call, End::ret, "a", "first");
    two.event(call, End::ret, "a", "second");
    EventConsumer nobody;
    Pipeline timed(two.plan, nobody);
    timed.add(0, Wire::entry(call, 10, 1));
    timed.add(0, Wire::ret(call, 10, 40, 1));
    timed.finish();
    ASSERT_EQ(timed.function_times().size(), 1u);
    EXPECT_EQ(timed.function_times()[0].calls, 1u);
    EXPECT_EQ(timed.function_times()[0].total_ns, 30u);
}

TEST_F(Pipelines, RubbishIsCountedAndSkipped) {
    std::vector<Wire> records{begin(10),
                              Wire::entry(static_cast<plan::ProbeId>(99), 20),
                              Wire::entry(init, 30),
                              Wire::entry(alloc, 40),
                              Wire::process(Change::fork, 50),
                              begin(60)};
    records[4].bytes().resize(sizeof(plan::RecordHeader) + 4);
    records[5].bytes()[12] = std::byte{9};  // of no kind
    EXPECT_EQ(run(records), (Text{"1 B cuInit @10 Flags=0"}));
    EXPECT_EQ(pipeline->totals().malformed, 5u);
    size_t whole = records[0].bytes().size();
    for (size_t size = 0; size < whole; ++size) {
        pipeline->add(0, std::span(records[0].bytes()).first(size));
    }
    pipeline->add(0, std::vector<std::byte>(100'000));
    EXPECT_EQ(pipeline->totals().malformed, 6 + whole);
}

TEST_F(Pipelines, UnknownHitsAndProcessChangesDoNoHarm) {
    Wire odd = Wire::process(static_cast<Change>(77), 15);
    EXPECT_EQ(run({Wire::entry(init, 10, 0xfffffe).number(0), odd,
                   Wire::entry(init, 20, 0xffffff).number(0)}),
              (Text{"1 B cuInit @20 Flags=0"}));
    EXPECT_EQ(counts().received, 1u);
}

TEST_F(Pipelines, PaddingBehindARecordIsLeftOut) {
    Wire padded = begin(10, 3).number(~0ull);
    EXPECT_EQ(run({padded}), (Text{"1 B cuInit @10 Flags=3"}));
}

TEST_F(Pipelines, RecordsMayStandAtAnyAddress) {
    Wire record = begin(10, 3);
    std::vector<std::byte> shifted(record.bytes().size() + 4);
    std::memcpy(shifted.data() + 4, record.bytes().data(), record.bytes().size());
    pipeline.emplace(t.plan, lines);
    pipeline->add(0, std::span(shifted).subspan(4));
    pipeline->finish();
    EXPECT_EQ(lines.lines, (Text{"1 B cuInit @10 Flags=3"}));
}

TEST_F(Pipelines, ATimeThatGoesBackwardsGivesNoDuration) {
    EXPECT_EQ(run({whole(50, 30)}), (Text{"1 X memory.alloc @30 address=0x10 size=4096"}));
}

}  // namespace
}  // namespace mlbcc::event
