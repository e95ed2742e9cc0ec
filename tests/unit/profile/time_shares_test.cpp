#include "profile/time_shares.h"

#include <gtest/gtest.h>

#include "saved/made.h"

namespace mlbcc::profile {
namespace {

using namespace mlbcc::test;

sink::Group thread(const char* pid, const char* tid) {
    return {{"pid", pid}, {"tid", tid}};
}
sink::Hist off(const char* pid, const char* tid, uint64_t count, uint64_t sum, uint64_t min,
               uint64_t max) {
    sink::Hist hist;
    hist.label = "off the CPU";
    hist.by = thread(pid, tid);
    hist.count = count;
    hist.sum = sum;
    hist.min = min;
    hist.max = max;
    return hist;
}

sink::MetricSnapshot measured() {
    sink::MetricSnapshot metrics;
    metrics.hists = {off("10", "10", 4, 400, 50, 200), off("10", "12", 1, 900, 900, 900)};
    metrics.stats = {stat("off the CPU: disk", thread("10", "10"), 250, 2),
                     stat("off the CPU: disk", thread("10", "10"), 50, 1),
                     stat("off the CPU: lock", thread("10", "12"), 900, 1),
                     stat("off the CPU: lock", thread("10", "10"), 0, 4)};
    return metrics;
}

TEST(OffCpu, adds_up_by_thread_and_reason) {
    OffCpuReport report = off_cpu_report(measured());
    EXPECT_EQ(report.time.total_ns, 1300u);
    EXPECT_EQ(report.time.events, 5u);
    EXPECT_EQ(report.time.average_ns(), 260u);
    EXPECT_EQ(report.time.min_ns, 50u);
    EXPECT_EQ(report.time.max_ns, 900u);
    EXPECT_EQ(report.reasons_ns,
              (std::map<std::string, uint64_t>{{"disk", 300}, {"lock", 900}, {"other", 100}}));
    EXPECT_EQ(report.longest, (std::vector<ThreadId>{{10, 12}, {10, 10}}));
    EXPECT_EQ(report.threads.at({10, 10}).reasons_ns,
              (std::map<std::string, uint64_t>{{"disk", 300}, {"other", 100}}));
}

TEST(OffCpu, of_nothing) {
    OffCpuReport report = off_cpu_report({});
    EXPECT_EQ(report.time.events, 0u);
    EXPECT_EQ(report.time.average_ns(), 0u);
    EXPECT_TRUE(report.longest.empty());
}

std::vector<ProcessLife> lives() {
    ProcessLife life;
    life.pid = 10;
    life.threads = {{10, "main", 0, 1000, 580}, {12, "worker", 100, 1050, 40}};
    return {life};
}

TEST(TimeShares, of_threads_with_one_number_it_is_not_known_which_waited) {
    ProcessLife first, second;
    first.pid = second.pid = 10;
    first.threads = {{10, "one", 0, 500, 400}, {13, "worker", 0, 500, 10}};
    second.threads = {{10, "other", 600, 1000, 20}};
    first.threads[0].shares_number = second.threads[0].shares_number = true;
    std::vector<ProcessLife> all{first, second};
    const OffCpuReport waits = off_cpu_report(measured());
    EXPECT_TRUE(mark_idle(all, waits).empty());
    const TimeReport report = time_report(all, waits);
    EXPECT_EQ(report.shared_numbers, 2u);
    EXPECT_EQ(report.whole.threads, 1u);
    EXPECT_EQ(report.whole.thread_ns, 500u);
}

TEST(TimeShares, add_up_to_the_lives_of_the_threads) {
    TimeReport report = time_report(lives(), off_cpu_report(measured()));
    EXPECT_EQ(report.whole.threads, 2u);
    EXPECT_EQ(report.whole.thread_ns, 1950u);
    EXPECT_EQ(report.whole.on_cpu_ns, 650u);
    uint64_t sum = report.whole.on_cpu_ns;
    for (const auto& [reason, ns] : report.whole.off_cpu_ns) sum += ns;
    EXPECT_EQ(sum, report.whole.thread_ns);
    EXPECT_EQ(report.processes.at(10).thread_ns, 1950u);
}

TEST(TimeShares, the_thread_that_worked_most_says_what_a_job_is) {
    TimeReport report = time_report(lives(), off_cpu_report(measured()));
    EXPECT_EQ(report.classification.bound, Bound::compute);
    EXPECT_EQ(report.classification.evidence, "thread 10 of process 10, which used the most CPU "
                                              "time, spent 60.0 % of its 0.000 s on the CPU");
    sink::MetricSnapshot metrics;
    metrics.hists = {off("10", "10", 4, 900, 50, 200)};
    metrics.stats = {stat("off the CPU: disk", thread("10", "10"), 600, 2),
                     stat("off the CPU: to_run", thread("10", "10"), 300, 2)};
    EXPECT_EQ(time_report(lives(), off_cpu_report(metrics)).classification.bound, Bound::io);
    metrics.stats = {stat("off the CPU: mine", thread("10", "10"), 900, 2)};
    EXPECT_EQ(time_report(lives(), off_cpu_report(metrics)).classification.bound, Bound::nothing);
}

TEST(TimeShares, time_off_the_CPU_is_at_most_the_life) {
    std::vector<ProcessLife> short_life = lives();
    short_life[0].threads = {{10, "main", 900, 1000, 5}};
    TimeReport report = time_report(short_life, off_cpu_report(measured()));
    EXPECT_EQ(report.whole.on_cpu_ns, 0u);
    EXPECT_EQ(report.whole.off_cpu_ns, (std::map<std::string, uint64_t>{{"disk", 100}}));
}

// No main thread is idle, nor who slept again and again, nor who worked.
TEST(TimeShares, a_thread_runs_for_no_longer_than_it_lives) {
    ProcessLife life;
    life.pid = 10;
    life.begin_ns = 0;
    life.end_ns = 1000;
    // Of the tracer's own start a little; and of 5000 ns before the trace.
    life.threads = {
        {10, "main", 200, 1000, 950}, {12, "old", 0, 1000, 5500}, {13, "plain", 0, 1000, 70}};
    life.threads[1].is_older = true;
    life.cpu_ns = 950 + 5500 + 70;
    std::vector<ProcessLife> lives{life};
    bound_cpu_time(lives, off_cpu_report(measured()));
    EXPECT_EQ(lives[0].threads[0].cpu_ns, 800u);
    EXPECT_EQ(lives[0].threads[1].cpu_ns, 100u);
    EXPECT_EQ(lives[0].threads[2].cpu_ns, 70u);
    EXPECT_EQ(lives[0].cpu_ns, 970u);
}

TEST(TimeShares, idle_threads_are_told_apart) {
    sink::MetricSnapshot metrics;
    metrics.hists = {off("10", "10", 1, 9900, 9900, 9900), off("10", "11", 2, 9900, 50, 9850),
                     off("10", "12", 9, 9900, 10, 8000), off("10", "13", 1, 9000, 9000, 9000)};
    metrics.stats = {stat("off the CPU: lock", thread("10", "11"), 9800, 2),
                     stat("off the CPU: lock", thread("10", "12"), 9800, 9),
                     stat("off the CPU: lock", thread("10", "13"), 9000, 1),
                     stat("off the CPU: network", thread("10", "15"), 9900, 1),
                     stat("off the CPU: poll", thread("10", "16"), 950, 1),
                     stat("off the CPU: poll", thread("10", "17"), 9950, 100)};
    metrics.hists.push_back(off("10", "17", 100, 9950, 99, 100));
    metrics.hists.push_back(off("10", "15", 1, 9900, 9900, 9900));
    metrics.hists.push_back(off("10", "16", 1, 950, 950, 950));
    ProcessLife life;
    life.pid = 10;
    life.end_ns = 10000;
    life.threads = {{10, "main", 0, 10000, 50},   {11, "pool", 0, 10000, 500},
                    {12, "io", 0, 10000, 50},     {13, "worker", 0, 10000, 1000},
                    {14, "unseen", 0, 10000, 10}, {15, "reader", 0, 10000, 10},
                    {16, "short", 0, 1000, 1},    {17, "looks up", 0, 10000, 20}};
    std::vector<ProcessLife> all{life};
    OffCpuReport waits = off_cpu_report(metrics);
    EXPECT_EQ(mark_idle(all, waits), (std::set<ThreadId>{{10, 11}, {10, 17}}));
    EXPECT_TRUE(all[0].threads[1].idle);
    TimeReport report = time_report(all, waits);
    EXPECT_EQ(report.whole.threads, 6u);
    EXPECT_EQ(report.processes.at(10).threads, 6u);
    EXPECT_EQ(report.idle.threads, 2u);
    EXPECT_EQ(report.idle.thread_ns, 20000u);
    EXPECT_EQ(report.idle.off_cpu_ns.at("lock"), 9800u);
    EXPECT_EQ(waits.working.total_ns, waits.time.total_ns);
    leave_out({{10, 11}, {10, 17}}, waits);
    EXPECT_EQ(waits.working.total_ns, waits.time.total_ns - 9900u - 9950u);
    EXPECT_EQ(waits.longest,
              (std::vector<ThreadId>{{10, 10}, {10, 12}, {10, 15}, {10, 13}, {10, 16}}));
}

}  // namespace
}  // namespace mlbcc::profile
