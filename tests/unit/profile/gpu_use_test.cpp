#include "profile/gpu_use.h"

#include <gtest/gtest.h>

#include "saved/made.h"

namespace mlbcc::profile {
namespace {

using namespace mlbcc::test;

saved::EventFields held(uint64_t time_ns, uint32_t pid, int64_t bytes) {
    return event_fields("process", "gpu_memory", time_ns, pid, pid, {{"held", bytes}});
}

sink::Gauge ledger(uint32_t pid, const char* device, int64_t value, int64_t peak,
                   uint64_t peak_ns) {
    sink::Gauge gauge;
    gauge.name = "gpu_bytes";
    gauge.pid = pid;
    gauge.by = {{"device", device}};
    gauge.value = value;
    gauge.peak = peak;
    gauge.at_peak = {peak_ns, "cuMemAlloc", {}};
    return gauge;
}

TEST(GpuUse, CallsAreThoseOfTheDriver) {
    sink::MetricSnapshot metrics;
    metrics.stats = {stat("gpu calls", {{"function", "\"cuMemAlloc\""}}, 700, 5),
                     stat("gpu errors", {{"function", "\"cuMemAlloc\""}}, 2, 2),
                     stat("file_io calls", {{"function", "\"read\""}}, 10, 1)};
    GpuReport report = GpuUse().report(metrics);
    EXPECT_FALSE(report.empty());
    EXPECT_EQ(report.calls.calls, 5u);
    EXPECT_EQ(report.calls.errors, 2u);
    ASSERT_EQ(report.calls.all.size(), 1u);
    EXPECT_EQ(report.calls.all[0].time_ns, 700u);
    EXPECT_TRUE(GpuUse().report({}).empty());
}

TEST(GpuUse, MemoryOfAllProcessesTogether) {
    GpuUse use;
    use.add(held(100, 1, 500));
    use.add(held(150, 2, 300));
    use.add(held(200, 1, 400));
    use.add(event_fields("process", "exit", 250, 2, 3));  // a thread of it
    use.add(event_fields("process", "exit", 300, 2, 2));
    sink::MetricSnapshot metrics;
    metrics.gauges = {ledger(2, "1", 300, 350, 160), ledger(1, "0", 400, 900, 210),
                      ledger(3, "0", 0, 0, 0)};
    GpuReport report = use.report(metrics);
    ASSERT_EQ(report.ledgers.size(), 2u) << "one never held anything";
    EXPECT_EQ(report.ledgers[0].device, "0");
    EXPECT_EQ(report.ledgers[0].peak_bytes, 900u);
    EXPECT_EQ(report.ledgers[1].held_bytes, 300u);
    ASSERT_EQ(report.steps.size(), 4u);
    EXPECT_EQ(report.steps[1].bytes, 800u);
    EXPECT_EQ(report.steps[3].bytes, 400u);

    EXPECT_EQ(memory_in(report, {0, 120})->growth_bytes, 500);
    EXPECT_EQ(memory_in(report, {0, 120})->peak_bytes, 500u);
    EXPECT_EQ(memory_in(report, {120, 205})->growth_bytes, 200);
    EXPECT_EQ(memory_in(report, {120, 205})->peak_bytes, 800u);
    EXPECT_EQ(memory_in(report, {205, 400})->growth_bytes, -300);
    EXPECT_EQ(memory_in(report, {205, 400})->peak_bytes, 900u) << "between two looks";
    EXPECT_FALSE(memory_in({}, {0, 100}));
}

TEST(GpuUse, LaunchesASecondAreThoseOfLooksThatLieInTheTime) {
    constexpr uint64_t kMs = 1'000'000;
    GpuUse use(4);
    EXPECT_EQ(use.launches_ns(), 0u);
    auto look = [&](uint64_t since_ms, uint64_t time_ms, uint64_t launches) {
        sink::Sums gained;
        gained.since_ns = since_ms * kMs;
        gained.time_ns = time_ms * kMs;
        gained.stats = {stat("gpu calls", {{"function", "\"cuMemAlloc\""}}, 1, 7)};
        if (launches > 0)
            gained.stats.push_back(
                stat("gpu calls", {{"function", "\"cuLaunchKernel\""}}, 1, launches));
        use.add(gained);
    };
    look(0, 100, 0);
    look(100, 200, 50);
    look(200, 300, 100);
    look(900, 1000, 100);  // nothing in between
    EXPECT_EQ(use.launches_ns(), 100 * kMs);
    EXPECT_DOUBLE_EQ(*use.launches_per_second({150 * kMs, 1010 * kMs}), 250);
    EXPECT_FALSE(use.launches_per_second({150 * kMs, 1200 * kMs})) << "the rest is not known";
    EXPECT_FALSE(use.launches_per_second({110 * kMs, 190 * kMs}));
    look(1000, 1100, 20);  // of too many two become one
    EXPECT_DOUBLE_EQ(*use.launches_per_second({200 * kMs, 1100 * kMs}), 220 / .9);
}

TEST(GpuUse, OfTooManyStepsEveryOtherGoes) {
    GpuUse use(4);
    for (int64_t i = 1; i <= 5; ++i) use.add(held(static_cast<uint64_t>(i), 1, i));
    std::vector<GpuStep> steps = use.report({}).steps;
    ASSERT_EQ(steps.size(), 3u);
    EXPECT_EQ(steps.front().bytes, 1u);
    EXPECT_EQ(steps.back().bytes, 5u);
}

}  // namespace
}  // namespace mlbcc::profile
