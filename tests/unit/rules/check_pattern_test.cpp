// Text compared with a part of it or with a pattern, and names that `let` gives.
#include <gtest/gtest.h>

#include "rules/checked.h"

namespace mlbcc::test {
namespace {

Prototypes prototypes() {
    Prototypes types;
    types.add("int mixed(unsigned int u, int i)");
    return types;
}

std::string tree(const std::string& expr) {
    return Checked(prototypes(), "mixed", expr).tree();
}

bool is_tracers(const std::string& expr) {
    const Checked checked(prototypes(), "mixed", expr);
    return checked.value() != nullptr && checked.value()->in_tracer;
}

TEST(CheckPattern, PatternsWithOneStarAreBeginningsAndEnds) {
    EXPECT_EQ(tree("comm ~ \"python\""), tree("comm == \"python\""));
    EXPECT_EQ(tree("comm ~ \"python*\""), tree("starts_with(comm, \"python\")"));
    EXPECT_EQ(tree("comm ~ \"*on\""), tree("ends_with(comm, \"on\")"));
    EXPECT_EQ(tree("comm ~ \"*yth*\""), tree("contains(comm, \"yth\")"));
    EXPECT_EQ(tree("comm ~ \"py*on\""),
              tree("starts_with(comm, \"py\") && ends_with(comm, \"on\")"));
    EXPECT_EQ(tree("comm ~ \"*\""), tree("starts_with(comm, \"\")"));
}

TEST(CheckPattern, TheKernelComparesBeginningsAndEnds) {
    EXPECT_FALSE(is_tracers("comm ~ \"py*on\""));
    EXPECT_FALSE(is_tracers("ends_with(comm, \"on\")"));
    EXPECT_TRUE(is_tracers("contains(comm, \"on\")"));
    EXPECT_TRUE(is_tracers("comm ~ \"p*t*n\""));
    EXPECT_TRUE(is_tracers("comm ~ \"pyt?on\""));
    EXPECT_TRUE(is_tracers("comm ~ \"pyt[gh]on\""));
    EXPECT_TRUE(is_tracers("comm ~ \"ab*ba\""));  // which "aba" does not match
}

TEST(CheckPattern, NamesAreComparedAtOnce) {
    EXPECT_EQ(tree("function ~ \"mi*d\""), "1");
    EXPECT_EQ(tree("function ~ \"m?xed\""), "1");
    EXPECT_EQ(tree("function ~ \"ma*\""), "0");
    EXPECT_EQ(tree("ends_with(function, \"xed\")"), "1");
    EXPECT_EQ(tree("contains(function, \"xe\")"), "1");
    EXPECT_EQ(tree("contains(function, \"ex\")"), "0");
}

TEST(CheckPattern, Mistakes) {
    EXPECT_EQ(Checked(prototypes(), "mixed", "u ~ \"*x\"").messages(),
              "error: `~` compares text with a string\n"
              "  --> a.rules:14:1\n"
              "   |\n"
              "14 | u ~ \"*x\"\n"
              "   | ^^^^^^^^\n"
              "   = help: write it as `filename ~ \"*.json\"`\n");
    EXPECT_EQ(Checked(prototypes(), "mixed", "ends_with(comm, u)").messages(),
              "error: `ends_with` compares text with a string\n"
              "  --> a.rules:14:1\n"
              "   |\n"
              "14 | ends_with(comm, u)\n"
              "   | ^^^^^^^^^^^^^^^^^^\n"
              "   = help: write it as `ends_with(filename, \".json\")`\n");
}

TEST(CheckPattern, APatternByEqualsIsWarnedOf) {
    EXPECT_EQ(Checked(prototypes(), "mixed", "comm == \"python*\"").messages(),
              "warning: `==` compares with the text as it is, `*` included\n"
              "  --> a.rules:14:1\n"
              "   |\n"
              "14 | comm == \"python*\"\n"
              "   | ^^^^^^^^^^^^^^^^^\n"
              "   = help: a pattern is matched by `~`: `comm ~ \"python*\"`\n");
    EXPECT_EQ(Checked(prototypes(), "mixed", "comm == \"python\"").messages(), "");
}

TEST(CheckLet, StandsForItsExpression) {
    EXPECT_EQ(tree("twice let twice = u * 2"), tree("u * 2"));
    EXPECT_EQ(tree("more let twice = u * 2 let more = twice + ret"), tree("u * 2 + ret"));
    EXPECT_EQ(tree("u let u = 7"), "7");
    EXPECT_EQ(tree("u let u = u + 1"), tree("u + 1"));  // what the parameter was
}

TEST(CheckLet, MeansOnlyWhatStandsBefore) {
    EXPECT_EQ(Checked(prototypes(), "mixed", "more let more = twice let twice = u * 2").messages(),
              "error: `twice` is not a parameter of `mixed`\n"
              "  --> a.rules:14:17\n"
              "   |\n"
              "14 | more let more = twice let twice = u * 2\n"
              "   |                 ^^^^^ not known here\n"
              "note: the prototype is here\n"
              "  --> api.h:3:10\n");
}

TEST(CheckLet, IsGivenOnce) {
    EXPECT_EQ(Checked(prototypes(), "mixed", "a let a = u let a = ret").messages(),
              "error: `a` is already defined\n"
              "  --> a.rules:14:17\n"
              "   |\n"
              "14 | a let a = u let a = ret\n"
              "   |                 ^\n"
              "note: here\n"
              "  --> a.rules:14:3\n");
}

TEST(CheckLet, NamesInNamesEnd) {
    std::string lets = " let a0 = u";
    for (int i = 1; i < 20; ++i)
        lets += " let a" + std::to_string(i) + " = a" + std::to_string(i - 1) + " + a" +
                std::to_string(i - 1);
    const std::string said = Checked(prototypes(), "mixed", "a19" + lets).messages();
    EXPECT_EQ(said.substr(0, said.find('\n')),
              "error: names of `let` stand for more than 256 expressions");
}

}  // namespace
}  // namespace mlbcc::test
