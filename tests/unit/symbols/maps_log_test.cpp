#include "symbols/maps_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mlbcc::symbols {
namespace {

SeenMapping seen(uint64_t start, uint64_t size, std::string path, uint64_t time_ns) {
    uint64_t inode = path == "//anon" ? 0 : path.size();
    return {70, start, size, 0, 8, 1, inode, std::move(path), time_ns};
}

// "a 1000-2000, b 3000-4000"
std::string at(const MapsLog& log, uint64_t before_ns, uint32_t pid = 70) {
    std::string out;
    for (const CodeMapping& one : log.mappings(pid, before_ns)) {
        out += out.empty() ? "" : ", ";
        out += fmt::format("{} {:x}-{:x}", one.path, one.start, one.end);
    }
    return out;
}

std::string replaced(const MapsLog& log, uint64_t time_ns) {
    MapsLog::Replaced found = log.replaced(70, time_ns);
    return fmt::format("{} {}", found.last, found.next == UINT64_MAX ? -1 : int64_t(found.next));
}

TEST(MapsLog, TellsHowItWas) {
    MapsLog log;
    log.mapped(seen(0x1000, 0x1000, "/a", 10));
    log.mapped(seen(0x3000, 0x1000, "/lib", 20));
    log.mapped(seen(0x800, 0x1000, "/bb", 30));
    log.mapped(seen(0x1000, 0x1000, "/a", 40));
    EXPECT_EQ(at(log, UINT64_MAX), "/a 1000-2000, /lib 3000-4000");
    const CodeMapping first = log.mappings(70)[0];
    EXPECT_EQ(first.inode, 2u);
    EXPECT_EQ(first.device_major, 8u);
    EXPECT_EQ(first.device_minor, 1u);
    EXPECT_EQ(at(log, 10), "");
    EXPECT_EQ(at(log, 11), "/a 1000-2000");
    EXPECT_EQ(at(log, 30), "/a 1000-2000, /lib 3000-4000");
    EXPECT_EQ(at(log, 31), "/bb 800-1800, /lib 3000-4000");
    EXPECT_EQ(at(log, 40), "/bb 800-1800, /lib 3000-4000");
    EXPECT_EQ(at(log, 41), "/a 1000-2000, /lib 3000-4000");
    EXPECT_EQ(at(log, 41, 71), "");
    EXPECT_EQ(replaced(log, 29), "0 30");
    EXPECT_EQ(replaced(log, 30), "30 40");
    EXPECT_EQ(replaced(log, 99), "40 -1");
}

// A path is the program's to choose.
TEST(MapsLog, APathThatLooksLikeAMappingIsAPath) {
    const std::string forged = "/tmp/a\n5000-6000 r-xp 00000000 08:01 5 /usr/bin/python3 (deleted)";
    MapsLog log;
    log.mapped(seen(0x1000, 0x1000, forged, 10));
    ASSERT_EQ(log.mappings(70).size(), 1u);
    EXPECT_EQ(log.mappings(70)[0].path, forged);
    EXPECT_FALSE(log.mappings(70)[0].deleted);
}

TEST(MapsLog, TheSameAgainReplacesNothing) {
    MapsLog log;
    log.mapped(seen(0x1000, 0x1000, "/a", 10));
    log.mapped(seen(0x1000, 0x1000, "/a", 20));
    log.mapped(seen(0x5000, 0x1000, "//anon", 30));
    log.mapped(seen(0x4000, 0x3000, "//anon", 40));
    EXPECT_EQ(replaced(log, 5), "0 -1");
    EXPECT_EQ(at(log, 11), "/a 1000-2000");
    EXPECT_EQ(at(log, 50), "/a 1000-2000,  4000-7000");
}

TEST(MapsLog, TakesWhatComesLate) {
    MapsLog log;
    log.mapped(seen(0x1000, 0x1000, "/bb", 20));
    log.mapped(seen(0x1000, 0x1000, "/a", 10));
    EXPECT_EQ(at(log, 20), "/a 1000-2000");
    EXPECT_EQ(at(log, 21), "/bb 1000-2000");
    EXPECT_EQ(replaced(log, 15), "0 20");
}

TEST(MapsLog, AChildHasItsParents) {
    MapsLog log;
    log.mapped(seen(0x1000, 0x1000, "/a", 10));
    log.forked(70, 71);
    log.forked(69, 72);
    log.mapped(seen(0x1000, 0x1000, "/bb", 20));
    EXPECT_EQ(at(log, 99, 71), "/a 1000-2000");
    EXPECT_EQ(at(log, 99, 72), "");
}

TEST(MapsLog, ForgetsWhatIsLongGone) {
    MapsLog log;
    for (uint64_t i = 1; i <= 1000; ++i) {
        log.mapped(seen(0x1000, 0x1000, i % 2 == 0 ? "/a" : "/bb", i));
    }
    EXPECT_EQ(at(log, 1001), "/a 1000-2000");
    EXPECT_EQ(at(log, 990), "/bb 1000-2000");
    EXPECT_EQ(at(log, 3), "");
    EXPECT_EQ(replaced(log, 1000), "1000 -1");
    EXPECT_EQ(replaced(log, 3), fmt::format("0 {}", 1000 - MapsLog::kMaxReplaced + 1));
    for (uint32_t pid = 100; pid < 100 + MapsLog::kMaxProcesses; ++pid) {
        SeenMapping one = seen(0x1000, 0x1000, "/a", 5);
        one.pid = pid;
        log.mapped(one);
    }
    EXPECT_EQ(at(log, 1001), "");
    EXPECT_EQ(at(log, 1001, 100), "/a 1000-2000");
}

}  // namespace
}  // namespace mlbcc::symbols
