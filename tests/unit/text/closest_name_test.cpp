#include <gtest/gtest.h>

#include "text/diagnostic.h"

namespace mlbcc {
namespace {

const std::vector<std::string> kNames{"count", "sum", "where", "bytesize", "CUDA_SUCCESS", "on"};

std::string closest(std::string_view name) {
    return closest_name(name, kNames).value_or("none");
}

TEST(ClosestName, WithinAThirdOfTheLength) {
    EXPECT_EQ(closest("bytessize"), "bytesize");
    EXPECT_EQ(closest("cont"), "count");
    EXPECT_EQ(closest("cuont"), "count");
    EXPECT_EQ(closest("wehre"), "where");
    EXPECT_EQ(closest("sun"), "sum");
    EXPECT_EQ(closest("onn"), "on");
    EXPECT_EQ(closest("banana"), "none");
    EXPECT_EQ(closest("cnt"), "none");
    EXPECT_EQ(closest(""), "none");
    EXPECT_EQ(closest("x"), "none");
}

TEST(ClosestName, CaseAlone) {
    EXPECT_EQ(closest("cuda_success"), "CUDA_SUCCESS");
    EXPECT_EQ(closest("COUNT"), "count");
}

TEST(ClosestName, TheNearestAndAmongEqualsTheFirst) {
    std::vector<std::string> names{"aaaaxx", "aaaaax", "aaaaay"};
    EXPECT_EQ(closest_name("aaaaaa", names), "aaaaax");
}

TEST(ClosestName, AllThatAThirdMayBe) {
    const std::vector<std::string> names{"abcdefghi"};
    for (const char* near : {"abcdefghi", "badcfeghi", "abcdefghixyz", "abcdefg", "abcxyzghi",
                             "xabcdefgi", "defghiabc"}) {
        const bool is_near = std::string_view(near) != "defghiabc";
        EXPECT_EQ(closest_name(near, names).has_value(), is_near) << near;
    }
    EXPECT_EQ(closest_name("badcfehgi", names), std::nullopt) << "four swaps";
}

TEST(ClosestName, NoCandidates) {
    EXPECT_EQ(closest_name("count", {}), std::nullopt);
}

}  // namespace
}  // namespace mlbcc
