#include "profile/system_calls.h"

#include <gtest/gtest.h>

#include "saved/made.h"

namespace mlbcc::profile {
namespace {

using namespace mlbcc::test;

sink::Group function(const char* quoted) {
    return {{"function", quoted}};
}

TEST(SystemCalls, labels_are_categories) {
    sink::MetricSnapshot metrics;
    metrics.stats = {stat("file_io calls", function("\"read\""), 700, 5),
                     stat("file_io calls", function("\"close\""), 20, 4),
                     stat("file_io errors", function("\"read\""), 2, 2),
                     stat("memory calls", function("\"mmap\""), 900, 3),
                     stat("read from file", {{"inode", "5"}}, 1, 1),
                     stat("gpu calls", function("\"cuInit\""), 50, 1),
                     stat("CUDA calls", {}, 1, 1)};
    CallTotals report = call_report(metrics, CallsOf::system);
    EXPECT_EQ(report.calls, 12u);
    EXPECT_EQ(report.time_ns, 1620u);
    EXPECT_EQ(report.errors, 2u);
    ASSERT_EQ(report.categories.size(), 2u);
    EXPECT_EQ(report.categories[0].category, "memory");
    EXPECT_EQ(report.categories[1].category, "file_io");
    EXPECT_EQ(report.categories[1].calls, 9u);
    EXPECT_EQ(report.categories[1].time_ns, 720u);
    ASSERT_EQ(report.all.size(), 3u);
    EXPECT_EQ(report.all[1].name, "read");
    EXPECT_EQ(report.all[1].category, "file_io");
    EXPECT_EQ(report.all[1].errors, 2u);
}

}  // namespace
}  // namespace mlbcc::profile
