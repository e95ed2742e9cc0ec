// Who only started a job.
#include "profile/launchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mlbcc::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
constexpr uint64_t kMs = 1'000'000;

ProcessLife life(uint32_t pid, uint32_t parent, uint64_t cpu_ms, uint64_t begin_ms = 0,
                 uint64_t end_ms = 1000) {
    ProcessLife made;
    made.pid = pid;
    made.parent = parent;
    made.cpu_ns = cpu_ms * kMs;
    made.begin_ns = begin_ms * kMs;
    made.end_ns = end_ms * kMs;
    made.ended = true;
    made.programs.push_back({begin_ms * kMs, "/bin/sh", {"sh", std::to_string(pid)}});
    return made;
}

TEST(Launchers, ParentsThatWaitForTheOneThatWorks) {
    const Launchers found = launchers_of(
        {life(10, 1, 5), life(11, 10, 20), life(12, 11, 900), life(13, 12, 800), life(14, 10, 3)});
    EXPECT_THAT(found.pids, ElementsAre(10, 11, 14));
    EXPECT_EQ(found.cpu_ns, 28 * kMs);
    EXPECT_THAT(found.arguments, ElementsAre("sh", "10"));
}

TEST(Launchers, AParentWithSeveralThatWorkIsTheJob) {
    EXPECT_THAT(launchers_of({life(10, 1, 5), life(11, 10, 900), life(12, 10, 800)}).pids,
                IsEmpty());
    // What started that one is none.
    EXPECT_THAT(launchers_of({life(10, 1, 5), life(11, 10, 300), life(12, 11, 900)}).pids,
                IsEmpty());
}

TEST(Launchers, OfAJobThatComputesNothingAllIsShown) {
    EXPECT_THAT(launchers_of({life(10, 1, 1), life(11, 10, 40)}).pids, IsEmpty());
    EXPECT_THAT(launchers_of({}).pids, IsEmpty());
}

TEST(Launchers, WhatRanBeforeTheProgramOfTheJob) {
    ProcessLife job = life(10, 1, 100);
    job.programs.push_back({300 * kMs, "/usr/bin/python3", {"python3", "x.py"}});
    const ProcessLife worker = life(14, 10, 1, 350, 400), open = [] {
        ProcessLife made = life(15, 10, 1, 20, 200);
        made.ended = false;
        return made;
    }();
    const Launchers found = launchers_of({job, life(11, 10, 2, 10, 50), life(12, 10, 2, 60, 90),
                                          life(13, 12, 2, 70, 80), worker, open});
    EXPECT_THAT(found.pids, ElementsAre(11, 12, 13));
    EXPECT_EQ(found.cpu_ns, 6 * kMs);
    EXPECT_THAT(found.arguments, ElementsAre("/bin/sh"));
    EXPECT_THAT(launchers_of({job, life(11, 10, 2, 10, 50), worker}).pids, IsEmpty()) << "one";
}

TEST(Launchers, APidThatIsItsOwnParentEndsNothing) {
    EXPECT_THAT(launchers_of({life(10, 10, 900), life(11, 10, 1)}).pids, IsEmpty());
    const Launchers circle = launchers_of({life(10, 11, 1), life(11, 10, 900)});
    EXPECT_LE(circle.pids.size(), 2u);
    const Launchers above = launchers_of({life(10, 11, 1), life(11, 10, 1), life(12, 10, 900)});
    EXPECT_LE(above.pids.size(), 2u);
}

}  // namespace
}  // namespace mlbcc::profile
