#include "requests/thread_line.h"

#include <gtest/gtest.h>

namespace mlbcc::requests {
namespace {

TEST(ThreadLine, pieces_until_they_are_dropped) {
    ThreadLine line(100);
    line.pass(110, 1);
    line.pass(120, 1);
    line.pass(115, 2);  // known already
    line.pass(130, 2, 115);
    EXPECT_EQ(line.size(), 2u);
    EXPECT_EQ(line.at(50)->part, ThreadLine::kIdle);
    EXPECT_EQ(line.at(50)->until_ns, 100u);
    EXPECT_EQ(line.at(100)->until_ns, 120u);
    EXPECT_EQ(line.at(120)->part, 2u);
    EXPECT_EQ(line.at(120)->since_ns, 115u);
    EXPECT_EQ(line.size(), 1u);
    EXPECT_FALSE(line.at(130));
    EXPECT_EQ(line.known_ns(), 130u);
}

TEST(ThreadLine, what_was_taken_for_known_is_forgotten) {
    ThreadLine line(100);
    line.pass(110, 1);
    line.pass(120, 2);
    line.pass(130, 3);
    line.forget_since(115);
    EXPECT_EQ(line.known_ns(), 115u);
    EXPECT_EQ(line.at(110)->part, 2u);
    line.forget_since(110);
    EXPECT_FALSE(line.at(110));
    line.forget_since(50);
    EXPECT_EQ(line.known_ns(), 110u);
}

}  // namespace
}  // namespace mlbcc::requests
