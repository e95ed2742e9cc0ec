// Probes that programs bring along: which a rule means, and what its arguments are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_programs.h"

namespace mlbcc::target {
namespace {

std::string points(const std::string& rules) {
    FakeHost host;
    add_programs(host);
    const Resolved resolved(rules, host);
    EXPECT_EQ(resolved.messages(), "");
    return resolved.points();
}

std::string said(const std::string& rules) {
    FakeHost host;
    add_programs(host);
    const Resolved resolved(rules, host);
    EXPECT_EQ(resolved.points(), "");
    return resolved.messages();
}

TEST(Usdt, AProbeIsOneOfAProgramInThePath) {
    EXPECT_EQ(points("on usdt:python3:python:audit { count }"),
              "usdt:python3:25126 1/1 void(uint64_t arg0, uint64_t arg1) <- 0\n");
}

TEST(Usdt, AQuotedPathAndTheNameOfALibraryLine) {
    const std::string sold = "usdt:libshop.so:10 1/2 void(uint64_t arg0, int32_t arg1) <- 0\n"
                             "usdt:libshop.so:20 2/2 void(uint64_t arg0, int16_t arg1) <- 0\n";
    EXPECT_EQ(points("on usdt:\"./libshop.so\":shop:sold { count }"), sold);
    EXPECT_EQ(points("library s = \"libno.so\", \"./libshop.so\"\n"
                     "on usdt:s:shop:sold { count }"),
              sold);
}

// "secret" is found and is none: a script, say.
TEST(Usdt, OfALibraryLineAllFilesAreMeantButScripts) {
    const std::string sold = "usdt:libshop.so:10 1/2 void(uint64_t arg0, int32_t arg1) <- 0\n"
                             "usdt:libshop.so:20 2/2 void(uint64_t arg0, int16_t arg1) <- 0\n";
    const std::string audit = "usdt:python3:25126 1/1 void(uint64_t arg0, uint64_t arg1) <- 0\n";
    EXPECT_EQ(points("library s = \"secret\", \"python3\", \"./libshop.so\", \"python3\"\n"
                     "on usdt:s:*:sold, usdt:s:*:audit { count }"),
              sold + audit);
    points("library s = \"secret\", \"python3\"\non usdt:s:python:audit { count }");  // no message
    EXPECT_THAT(said("library s = \"secret\"\non usdt:s:python:audit { count }"),
                testing::HasSubstr("the probes of `/usr/bin/secret` cannot be read"));
}

TEST(Usdt, WildcardsOfBothWordsAndExcept) {
    EXPECT_EQ(points("on usdt:python3:py*:* except gc__start, l* { count }"),
              "usdt:python3:25126 1/1 void(uint64_t arg0, uint64_t arg1) <- 0\n"
              "usdt:python3:2873b 1/1 void(int64_t arg0) <- 0\n");
}

TEST(Usdt, TheMoreExactRuleComesLast) {
    EXPECT_EQ(
        points("on usdt:python3:python:gc__done { count } on usdt:python3:*:gc__d* { count }"),
        "usdt:python3:2873b 1/1 void(int64_t arg0) <- 1 0\n");
}

TEST(Usdt, WhatCannotBeReadHasNoType) {
    EXPECT_EQ(points("on usdt:python3:python:line { count }"),
              "usdt:python3:3423c 1/1 void(8f@%xmm0 arg0, int32_t arg1) <- 0\n");
}

TEST(Usdt, NoProbeOfThatName) {
    EXPECT_EQ(said("on usdt:python3:python:audits { count }"),
              R"(error: no probe matches `python:audits`
 --> test.rules:1:4
  |
1 | on usdt:python3:python:audits { count }
  |    ^^^^^^^^^^^^^^^^^^^^^^^^^^
  = note: /usr/bin/python3 has python:audit, python:gc__done, python:gc__start, python:line
  = help: there is one with a similar name: `python:audit`
)");
}

TEST(Usdt, AFileWithoutProbes) {
    EXPECT_EQ(said("on optional usdt:plain:a:b { count }"), R"(note: no probe matches `a:b`
 --> test.rules:1:13
  |
1 | on optional usdt:plain:a:b { count }
  |             ^^^^^^^^^^^^^^
  = note: /usr/bin/plain brings no probes along
)");
}

TEST(Usdt, AFileThatIsNotThere) {
    EXPECT_EQ(said("on usdt:pythn3:python:audit { count }"),
              R"(error: no program or library `pythn3` was found
 --> test.rules:1:4
  |
1 | on usdt:pythn3:python:audit { count }
  |    ^^^^^^^^^^^^^^^^^^^^^^^^
  = note: searched /etc/ld.so.cache
  = note: searched /usr/lib
  = help: give its path in quotes, or name it by a `library` line
)");
}

TEST(Usdt, AFileThatCannotBeRead) {
    EXPECT_EQ(said("on usdt:secret:a:b { count }"),
              R"(error: the probes of `/usr/bin/secret` cannot be read
 --> test.rules:1:4
  |
1 | on usdt:secret:a:b { count }
  |    ^^^^^^^^^^^^^^^
  = note: cannot open /usr/bin/secret: No such file or directory
)");
}

TEST(Usdt, ExceptThatLeavesNothingIsAMistake) {
    EXPECT_EQ(said("on usdt:python3:python:audit except a* { count }"),
              R"(error: `except` leaves no probe of `python:audit`
 --> test.rules:1:4
  |
1 | on usdt:python3:python:audit except a* { count }
  |    ^^^^^^^^^^^^^^^^^^^^^^^^^
)");
}

}  // namespace
}  // namespace mlbcc::target
