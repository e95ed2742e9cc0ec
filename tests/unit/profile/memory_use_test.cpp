#include "profile/memory_use.h"

#include <gtest/gtest.h>

#include "saved/made.h"

namespace mlbcc::profile {
namespace {

using namespace mlbcc::test;

saved::EventFields look(uint64_t time, uint32_t pid, int64_t resident, int64_t faults = 0) {
    return event_fields("process", "memory", time, pid, pid,
                        {{"resident", resident},
                         {"anonymous", resident - 1},
                         {"file_mapped", int64_t{1}},
                         {"minor_faults", faults},
                         {"major_faults", int64_t{2}}});
}

TEST(MemoryUse, the_peak_is_of_all_processes_that_live) {
    MemoryUse use;
    use.add(look(10, 1, 100, 5));
    use.add(look(11, 2, 300, 7));
    use.add(event_fields("process", "exit", 15, 2, 3));  // a thread
    use.add(look(20, 1, 150, 6));
    use.add(event_fields("process", "exit", 25, 2, 2));
    use.add(look(30, 1, 200, 6));
    MemoryReport report = use.report();
    EXPECT_EQ(report.peak_resident, 450u);
    EXPECT_EQ(report.peak_ns, 20u);
    EXPECT_EQ(report.minor_faults, 13u);
    EXPECT_EQ(report.major_faults, 4u);
    ASSERT_EQ(report.samples.size(), 4u);
    EXPECT_EQ(report.samples[1].pid, 2u);
    EXPECT_EQ(report.samples[1].anonymous, 299u);
    EXPECT_EQ(report.every, 1u);
}

TEST(MemoryUse, of_too_many_looks_every_other_goes) {
    MemoryUse use(4);
    for (uint64_t i = 0; i < 10; ++i) use.add(look(i, 1, static_cast<int64_t>(100 + i)));
    MemoryReport report = use.report();
    EXPECT_EQ(report.every, 4u);
    std::vector<uint64_t> times;
    for (const MemorySample& sample : report.samples) times.push_back(sample.time_ns);
    EXPECT_EQ(times, (std::vector<uint64_t>{0, 4, 8}));
    EXPECT_EQ(report.peak_resident, 109u);
}

}  // namespace
}  // namespace mlbcc::profile
