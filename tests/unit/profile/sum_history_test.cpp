#include "profile/sum_history.h"

#include <gtest/gtest.h>

#include "saved/made.h"

namespace mlbcc::profile {
namespace {

using namespace mlbcc::test;

using Reasons = std::map<std::string, uint64_t>;

sink::Group function(const char* quoted) {
    return {{"function", quoted}};
}
sink::Group thread(const char* tid) {
    return {{"pid", "10"}, {"tid", tid}};
}
sink::Hist off(const char* tid, uint64_t count, uint64_t sum) {
    sink::Hist hist;
    hist.label = "off the CPU";
    hist.by = thread(tid);
    hist.count = count;
    hist.sum = sum;
    return hist;
}
sink::Sums look(uint64_t since_ns, uint64_t time_ns, std::vector<sink::Stat> stats,
                std::vector<sink::Hist> hists = {}) {
    return {time_ns, since_ns, 100, std::move(stats), std::move(hists)};
}

std::vector<ProcessLife> lives(uint64_t begin_ns = 0, uint64_t end_ns = 1000) {
    ProcessLife life;
    life.pid = 10;
    life.begin_ns = begin_ns;
    life.end_ns = end_ns;
    life.threads = {{10, "main", begin_ns, end_ns, 5}};
    return {life};
}

TEST(SumHistories, a_look_is_shared_by_the_time_in_each_phase) {
    SumHistory history;
    history.add(look(100, 200,
                     {stat("file_io calls", function("\"read\""), 60, 10),
                      stat("file_io errors", function("\"read\""), 3, 3)}));
    auto shared = history.shared({{0, 130}, {130, 1000}}, lives());
    ASSERT_EQ(shared.size(), 3u);
    EXPECT_EQ(shared[0].calls.calls, 3u);
    EXPECT_EQ(shared[0].calls.time_ns, 18u);
    EXPECT_EQ(shared[0].calls.errors, 1u);
    EXPECT_EQ(shared[1].calls.calls, 7u);
    EXPECT_EQ(shared[1].calls.time_ns, 42u);
    EXPECT_EQ(shared[1].calls.errors, 2u);
    ASSERT_EQ(shared[1].calls.categories.size(), 1u);
    EXPECT_EQ(shared[1].calls.categories[0].category, "file_io");
    EXPECT_EQ(shared[2].calls.calls, 0u);
}

TEST(SumHistories, calls_of_the_gpu_are_told_apart) {
    SumHistory history;
    history.add(look(100, 200,
                     {stat("file_io calls", function("\"read\""), 60, 10),
                      stat("gpu calls", function("\"cuInit\""), 40, 4)}));
    auto shared = history.shared({{0, 150}, {150, 1000}}, lives());
    EXPECT_EQ(shared[0].gpu.calls, 2u);
    EXPECT_EQ(shared[1].gpu.time_ns, 20u);
    EXPECT_EQ(shared[0].calls.calls + shared[1].calls.calls, 10u);
}

TEST(SumHistories, a_long_call_took_its_time_before_the_look) {
    SumHistory history;
    history.add(look(800, 900, {stat("time calls", function("\"nanosleep\""), 600, 1)}));
    auto shared = history.shared({{0, 600}, {600, 850}, {850, 1000}}, lives());
    EXPECT_EQ(shared[0].calls.time_ns, 300u);
    EXPECT_EQ(shared[1].calls.time_ns, 250u);
    EXPECT_EQ(shared[2].calls.time_ns, 50u);
    EXPECT_EQ(shared[0].calls.calls + shared[1].calls.calls + shared[2].calls.calls, 1u);
    EXPECT_EQ(shared[0].calls.calls, 0u);  // it is counted when it ended
}

TEST(SumHistories, waits_go_with_their_thread) {
    SumHistory history;
    history.add(look(800, 900,
                     {stat("off the CPU: disk", thread("10"), 400, 1),
                      stat("off the CPU: to_run", thread("10"), 0, 1)},
                     {off("10", 1, 500)}));
    auto shared = history.shared({{0, 650}, {650, 1000}}, lives());
    EXPECT_EQ(shared[0].off_cpu_ns, (Reasons{{"disk", 200}, {"other", 50}}));
    EXPECT_EQ(shared[1].off_cpu_ns, (Reasons{{"disk", 200}, {"other", 50}}));
    EXPECT_EQ(shared[0].time.thread_ns, 650u);
    EXPECT_EQ(shared[0].time.on_cpu_ns, 400u);
    EXPECT_EQ(shared[1].time.on_cpu_ns, 100u);
    EXPECT_EQ(shared[2].time.thread_ns, 0u);
}

TEST(SumHistories, what_is_in_no_phase_is_outside) {
    SumHistory history;
    history.add(look(0, 100, {stat("memory calls", function("\"mmap\""), 100, 10)}));
    auto shared = history.shared({{40, 60}}, lives());
    EXPECT_EQ(shared[0].calls.calls, 2u);
    EXPECT_EQ(shared[1].calls.calls, 8u);
    EXPECT_EQ(shared[1].time.thread_ns, 980u);
    // No process was there before.
    shared = history.shared({{40, 60}}, lives(40, 60));
    EXPECT_EQ(shared[0].calls.calls, 10u);
    EXPECT_EQ(shared[1].calls.calls, 0u);
}

TEST(SumHistories, add_up_whatever_the_cuts) {
    SumHistory history(40);  // so few pieces are kept
    for (uint64_t i = 0; i < 100; ++i) {
        history.add(look(i * 10, i * 10 + 10,
                         {stat("file_io calls", function("\"read\""), 7 * i, i % 3),
                          stat("off the CPU: disk", thread("10"), i, 1)},
                         {off("10", 2, i + 3)}));
    }
    std::vector<phases::TimeRange> stretches;
    for (uint64_t at = 3; at < 900; at += 37) stretches.push_back({at, at + 37});
    CallTotals whole = call_report(history.whole(), CallsOf::system);
    OffCpuReport waits = off_cpu_report(history.whole());
    CallTotals calls;
    Reasons reasons;
    uint64_t lived = 0;
    for (const TimedSums& one : history.shared(stretches, lives())) {
        calls.calls += one.calls.calls;
        calls.time_ns += one.calls.time_ns;
        for (const auto& [reason, ns] : one.off_cpu_ns) reasons[reason] += ns;
        uint64_t sum = one.time.on_cpu_ns;
        for (const auto& [reason, ns] : one.time.off_cpu_ns) sum += ns;
        EXPECT_EQ(sum, one.time.thread_ns);
        lived += one.time.thread_ns;
    }
    EXPECT_EQ(calls.calls, whole.calls);
    EXPECT_EQ(calls.time_ns, whole.time_ns);
    EXPECT_EQ(whole.time_ns, 7u * 4950);
    EXPECT_EQ(reasons, waits.reasons_ns);
    EXPECT_EQ(lived, 1000u);
}

}  // namespace
}  // namespace mlbcc::profile
