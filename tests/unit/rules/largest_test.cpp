// `largest`: what it says, and what is said of it where it is wrong.
#include <gtest/gtest.h>

#include "describe.h"
#include "parse_text.h"

namespace mlbcc::rules {
namespace {

std::string clauses(const std::string& rule) {
    Parsed parsed = parse_rules(rule);
    EXPECT_EQ(parsed.messages(), "");
    std::string out;
    for (const Clause& clause : parsed.rules.rules.at(0).clauses) out += describe(clause) + "\n";
    return out;
}

TEST(Largest, IsByOneValueAndShowsOthers) {
    EXPECT_EQ(
        clauses("on c:f { largest 10 by gap = g[tid] * 1ns as \"Longest gaps\" (a, b = p->c)\n"
                "         largest 3 by size as \"Sizes\"  stack user\n"
                "         largest 1000 by duration as \"Slowest\" (args) count }"),
        "largest 10 by gap = ((g[tid]) * 1ns) as Longest gaps {a = a, b = (p->c)}\n"
        "largest 3 by size as Sizes {}\n"
        "stack user\n"
        "largest 1000 by duration as Slowest {args}\n"
        "count\n");
}

TEST(Largest, KeepsAtLeastOneAndNotMoreThanAThousand) {
    EXPECT_EQ(messages("on c:f { largest 0 by size as \"S\" }"),
              R"(error: expected how many to keep, found `0`
 --> a.rules:1:18
  |
1 | on c:f { largest 0 by size as "S" }
  |                  ^
  = help: write a number from 1 to 1000
)");
    EXPECT_EQ(messages("on c:f { largest 5ms by size as \"S\" }"),
              R"(error: expected how many to keep, found `5ms`
 --> a.rules:1:18
  |
1 | on c:f { largest 5ms by size as "S" }
  |                  ^^^
  = help: write a number from 1 to 1000
)");
    EXPECT_EQ(messages("on c:f { largest by size as \"S\" }"),
              R"(error: expected how many are kept, found `by`
 --> a.rules:1:18
  |
1 | on c:f { largest by size as "S" }
  |                  ^^
  = help: write `largest 10 by VALUE as "TITLE"`
)");
    EXPECT_NE(messages("on c:f { largest 1001 by size as \"S\" }"), "");
}

TEST(Largest, IsByOneValue) {
    EXPECT_EQ(messages("on c:f { largest 3 size as \"S\" }"), R"(error: expected `by`, found `size`
 --> a.rules:1:20
  |
1 | on c:f { largest 3 size as "S" }
  |                    ^^^^
)");
    EXPECT_EQ(messages("on c:f { largest 3 by args, size as \"S\" }"),
              R"(error: `args` is several values; `largest` compares one
 --> a.rules:1:23
  |
1 | on c:f { largest 3 by args, size as "S" }
  |                       ^^^^
  = help: name the parameter
)");
}

TEST(Largest, HasATitle) {
    EXPECT_EQ(messages("on c:f { largest 3 by gap = g[tid] (a) }"),
              R"(error: a list of the largest needs a title
 --> a.rules:1:23
  |
1 | on c:f { largest 3 by gap = g[tid] (a) }
  |                       ^^^^^^^^^^^^
  = help: write `by gap = g[tid] as "TITLE"`
)");
    EXPECT_EQ(messages("on c:f { largest 3 by size as Sizes }"),
              R"(error: expected a title in quotes, found `Sizes`
 --> a.rules:1:31
  |
1 | on c:f { largest 3 by size as Sizes }
  |                               ^^^^^
  = help: put it in quotes: `"Sizes"`
)");
}

TEST(Largest, HasATitleOfItsOwn) {
    EXPECT_EQ(messages("on c:f { largest 3 by size as \"S\" }\n"
                       "on c:g { largest 5 by size as \"S\" }\n"),
              R"(error: there are two lists "S"
 --> a.rules:2:10
  |
2 | on c:g { largest 5 by size as "S" }
  |          ^^^^^^^^^^^^^^^^^^^^^^^^
note: the first is here
 --> a.rules:1:10
  = help: give one of them another title
)");
}

TEST(Largest, HasFieldsOfDifferentNames) {
    EXPECT_EQ(messages("on c:f { largest 3 by size as \"S\" (a, a = b) }"),
              R"(error: there are two fields `a`
 --> a.rules:1:39
  |
1 | on c:f { largest 3 by size as "S" (a, a = b) }
  |                                       ^^^^^
  = help: give this one another name: `NAME = b`
)");
}

}  // namespace
}  // namespace mlbcc::rules
