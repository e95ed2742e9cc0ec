#include "process/process_counters.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

namespace mlbcc::process {
namespace {

// Of the kernel's own, so that they are there without a CPU that counts.
constexpr CounterEvent kFaults{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS};
constexpr CounterEvent kTime{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK};
constexpr CounterEvent kNothing{PERF_TYPE_SOFTWARE, 1000};

void touch(size_t pages) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* memory =
        mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    madvise(memory, pages * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
    munmap(memory, pages * page);
}

TEST(ProcessCounters, CountThreadsThatComeLater) {
    ProcessCounters counters;
    auto before = counters.read(getpid(), 1, kFaults);
    if (!before) GTEST_SKIP() << "perf_event_open is not to be had here";
    std::thread([] { touch(500); }).join();
    auto after = counters.read(getpid(), 1, kFaults);
    ASSERT_TRUE(after);
    EXPECT_GE(*after - *before, 500u);
    EXPECT_LT(*after - *before, 5000u);
}

TEST(ProcessCounters, EachEventForItself) {
    ProcessCounters counters;
    if (!counters.read(getpid(), 1, kTime)) GTEST_SKIP() << "perf_event_open is not to be had here";
    ASSERT_TRUE(counters.read(getpid(), 1, kFaults));
    touch(100);
    EXPECT_GT(*counters.read(getpid(), 1, kTime), 1000u);
    EXPECT_GE(*counters.read(getpid(), 1, kFaults), 100u);
}

TEST(ProcessCounters, BeginAnewWithAnotherProcess) {
    ProcessCounters counters;
    if (!counters.read(getpid(), 1, kFaults))
        GTEST_SKIP() << "perf_event_open is not to be had here";
    touch(500);
    EXPECT_LT(*counters.read(getpid(), 2, kFaults), 500u) << "of the same id";
    touch(500);
    EXPECT_GE(*counters.read(getpid(), 2, kFaults), 500u);
    counters.keep_only({});
    EXPECT_LT(*counters.read(getpid(), 2, kFaults), 500u);
}

TEST(ProcessCounters, WhatIsNotThereIsNothing) {
    ProcessCounters counters;
    EXPECT_FALSE(counters.read(getpid(), 1, kNothing));
    EXPECT_FALSE(counters.read(getpid(), 1, kNothing));
    EXPECT_FALSE(counters.read(0x7ffffff0, 1, kFaults)) << "no such process";
}

}  // namespace
}  // namespace mlbcc::process
