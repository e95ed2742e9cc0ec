#include "event/threads.h"

#include <gtest/gtest.h>

namespace mlbcc::event {
namespace {

constexpr plan::RuleId kRule{0};
using Id = std::optional<uint64_t>;

OpenSpan span(uint64_t start, uint32_t probe, uint64_t event = 0, uint32_t slot = 0) {
    return {start, static_cast<plan::ProbeId>(probe), slot, event, kRule};
}

class Tracker : public testing::Test {
protected:
    uint64_t begins() const { return tracker.unmatched(kRule).begins; }
    uint64_t ends() const { return tracker.unmatched(kRule).ends; }
    SpanTracker tracker{1};
    Thread& main = tracker.thread(70, 70);
};

TEST_F(Tracker, PairsNestedCalls) {
    tracker.begin(main, span(10, 1, 1));
    EXPECT_EQ(main.parent_at(20), Id(1));
    tracker.begin(main, span(20, 2, 2));
    EXPECT_EQ(main.parent_at(25), Id(2));
    EXPECT_EQ(tracker.end(main, span(20, 2)), Id(2));
    EXPECT_EQ(tracker.end(main, span(10, 1)), Id(1));
    EXPECT_EQ(main.parent_at(99), Id());
    EXPECT_EQ(begins() + ends(), 0u);
}

TEST_F(Tracker, PairsRecursionByItsStartTimes) {
    for (uint64_t depth = 1; depth <= 5; ++depth) tracker.begin(main, span(depth * 10, 1, depth));
    for (uint64_t depth = 5; depth >= 1; --depth)
        EXPECT_EQ(tracker.end(main, span(depth * 10, 1)), Id(depth));
    EXPECT_EQ(begins() + ends(), 0u);
}

TEST_F(Tracker, ClosesWhatALongjmpLeft) {
    tracker.begin(main, span(10, 1, 1));
    tracker.begin(main, span(20, 2, 2));
    tracker.begin(main, span(30, 3, 3));
    EXPECT_EQ(tracker.end(main, span(10, 1)), Id(1));
    EXPECT_EQ(begins(), 2u);
    EXPECT_TRUE(main.open.empty());
}

TEST_F(Tracker, CountsAnEndWithoutABegin) {
    tracker.begin(main, span(10, 1, 1));
    tracker.begin(main, span(40, 1, 2));
    EXPECT_EQ(tracker.end(main, span(20, 2)), Id());  // its begin was lost; 40 was inside it
    EXPECT_EQ(ends(), 1u);
    EXPECT_EQ(begins(), 1u);
    EXPECT_EQ(tracker.end(main, span(10, 1)), Id(1));
}

TEST_F(Tracker, KeepsSpansOfOneCallApart) {
    tracker.begin(main, span(10, 1, 1, 0));
    tracker.begin(main, span(10, 1, 2, 1));
    EXPECT_EQ(tracker.end(main, span(10, 1, 0, 1)), Id(2));
    EXPECT_EQ(tracker.end(main, span(10, 1, 0, 0)), Id(1));
    EXPECT_EQ(begins() + ends(), 0u);
}

TEST_F(Tracker, FindsTheParentOfAnEarlierMoment) {
    tracker.begin(main, span(10, 1, 1));
    tracker.begin(main, span(30, 2, 2));
    EXPECT_EQ(main.parent_at(20), Id(1));
    EXPECT_EQ(main.parent_at(5), Id());
}

TEST_F(Tracker, PutsALateBeginInItsPlace) {
    tracker.begin(main, span(30, 2, 2));
    tracker.begin(main, span(10, 1, 1));
    EXPECT_EQ(tracker.end(main, span(30, 2)), Id(2));
    EXPECT_EQ(tracker.end(main, span(10, 1)), Id(1));
    EXPECT_EQ(begins() + ends(), 0u);
}

TEST_F(Tracker, ThreadsDoNotMix) {
    Thread& other = tracker.thread(70, 71);
    tracker.begin(main, span(10, 1, 1));
    tracker.begin(other, span(10, 1, 2));
    EXPECT_EQ(tracker.end(main, span(10, 1)), Id(1));
    EXPECT_EQ(tracker.end(other, span(10, 1)), Id(2));
    EXPECT_EQ(tracker.threads_seen(), 2u);
    EXPECT_EQ(tracker.processes_seen(), 1u);
}

TEST_F(Tracker, NobodyIsNoThread) {
    Thread& nobody = tracker.thread(0, 0);
    tracker.begin(nobody, span(10, 1, 1));
    EXPECT_EQ(tracker.end(tracker.thread(0, 0), span(10, 1)), Id(1));
    tracker.begin(tracker.thread(70, 0), span(20, 1, 2));
    EXPECT_EQ(tracker.threads_seen(), 1u);
    EXPECT_EQ(tracker.processes_seen(), 1u);
    tracker.finish();
    EXPECT_EQ(begins(), 1u);
}

TEST_F(Tracker, AThreadsEndClosesItsSpans) {
    tracker.begin(main, span(10, 1, 1));
    tracker.thread_ended(70);
    EXPECT_EQ(begins(), 1u);
    EXPECT_EQ(tracker.thread(70, 70).open.size(), 0u);
    EXPECT_EQ(tracker.threads_seen(), 2u);  // the id was given again
}

TEST_F(Tracker, AnExecClosesAllThreadsOfItsProcess) {
    tracker.begin(main, span(10, 1, 1));
    tracker.begin(tracker.thread(70, 71), span(10, 1, 2));
    tracker.begin(tracker.thread(80, 80), span(10, 1, 3));
    tracker.process_replaced(70);
    EXPECT_EQ(begins(), 2u);
    EXPECT_EQ(tracker.thread(70, 70).open.size(), 0u);
    EXPECT_EQ(tracker.thread(80, 80).open.size(), 1u);
    EXPECT_EQ(tracker.processes_seen(), 2u);
    EXPECT_EQ(tracker.threads_seen(), 3u);
}

TEST_F(Tracker, TheSystemCallThatExecIsEndsAfterIt) {
    tracker.begin(main, span(10, 1, 1));
    OpenSpan exec = span(20, 2, 2);
    exec.sp = 0xffff;
    tracker.begin(main, exec);
    tracker.process_replaced(70);
    EXPECT_EQ(begins(), 1u);
    EXPECT_EQ(tracker.end(tracker.thread(70, 70), exec), 2u);
}

TEST_F(Tracker, WhatExecCallsInTheKernelGoesOnToo) {
    OpenSpan exec = span(20, 2, 2), inner = span(30, 3, 3);
    exec.sp = 0xffff;
    inner.sp = 0xbe00;
    tracker.begin(main, span(10, 1, 1));
    tracker.begin(main, exec);
    tracker.begin(main, inner);
    tracker.process_replaced(70);
    EXPECT_EQ(begins(), 1u);
    EXPECT_EQ(tracker.end(tracker.thread(70, 70), inner), 3u);
    EXPECT_EQ(tracker.end(tracker.thread(70, 70), exec), 2u);
}

TEST_F(Tracker, AProcessEndClosesItsThreads) {
    tracker.begin(tracker.thread(70, 71), span(10, 1, 2));
    tracker.thread_ended(70);
    tracker.process_ended(70);
    EXPECT_EQ(begins(), 1u);
}

TEST_F(Tracker, AnIdOfAnotherProcessIsAnotherThread) {
    tracker.begin(main, span(10, 1, 1));
    Thread& now = tracker.thread(90, 70);
    EXPECT_TRUE(now.open.empty());
    EXPECT_EQ(begins(), 1u);
    EXPECT_EQ(tracker.processes_seen(), 2u);
}

TEST_F(Tracker, TheEndOfTheTraceClosesAll) {
    tracker.begin(main, span(10, 1, 1));
    tracker.begin(main, span(20, 1, 2));
    tracker.finish();
    EXPECT_EQ(begins(), 2u);
}

TEST_F(Tracker, GivesUpTheOuterHalfOfADeepStack) {
    for (uint64_t i = 1; i <= SpanTracker::kMaxDepth + 1; ++i) tracker.begin(main, span(i, 1, i));
    EXPECT_EQ(begins(), SpanTracker::kMaxDepth / 2);
    EXPECT_EQ(main.open.size(), SpanTracker::kMaxDepth / 2 + 1);
    EXPECT_EQ(tracker.end(main, span(SpanTracker::kMaxDepth, 1)), Id(SpanTracker::kMaxDepth));
    EXPECT_EQ(tracker.end(main, span(5, 1)), Id());
}

TEST_F(Tracker, ForgetsIdleThreadsWhenThereAreTooMany) {
    tracker.begin(main, span(10, 1, 1));
    for (uint32_t tid = 1000; tid < 1000 + 2 * SpanTracker::kMaxThreads; ++tid)
        tracker.thread(70, tid);
    EXPECT_EQ(tracker.thread(70, 70).open.size(), 1u);
}

}  // namespace
}  // namespace mlbcc::event
