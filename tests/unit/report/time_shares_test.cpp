#include "report/time_shares.h"

#include <gtest/gtest.h>

#include "report/made.h"

namespace mlbcc::report {
namespace {

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

}  // namespace
}  // namespace mlbcc::report
