// `trace ADDRESS as NAME`.
#include <gtest/gtest.h>

#include "describe.h"
#include "parse_text.h"

namespace mlbcc::rules {
namespace {

TEST(Trace, IsAnAddressAndAName) {
    Parsed parsed =
        parse_rules("on c:f { trace *pfn as symbol  trace table[2] + 8 as \"f\" count }");
    EXPECT_EQ(parsed.messages(), "");
    std::string out;
    for (const Clause& clause : parsed.rules.rules.at(0).clauses) out += describe(clause) + "\n";
    EXPECT_EQ(out, "trace (*pfn) as symbol\ntrace ((table[2]) + 8) as \"f\"\ncount\n");
}

TEST(Trace, NeedsBoth) {
    EXPECT_EQ(messages("on c:f { trace *pfn }"), R"(error: expected `as`, found `}`
 --> a.rules:1:21
  |
1 | on c:f { trace *pfn }
  |                     ^
)");
    EXPECT_NE(messages("on c:f { trace as symbol }"), "");
    EXPECT_NE(messages("on c:f { trace *pfn as }"), "");
}

}  // namespace
}  // namespace mlbcc::rules
