#include "text/glob.h"

#include <gtest/gtest.h>

namespace mlbcc {
namespace {

struct Case {
    const char* pattern;
    const char* name;
    bool matches;
};

class GlobMatch : public testing::TestWithParam<Case> {};

TEST_P(GlobMatch, AgreesWithTheShell) {
    const Case& c = GetParam();
    EXPECT_EQ(glob_match(c.pattern, c.name), c.matches) << c.pattern << " on " << c.name;
}

INSTANTIATE_TEST_SUITE_P(
    Patterns, GlobMatch,
    testing::Values(Case{"", "", true}, Case{"", "a", false}, Case{"cuInit", "cuInit", true},
                    Case{"cuInit", "cuInit_v2", false}, Case{"*", "", true}, Case{"*", "x", true},
                    Case{"cu*", "cuInit", true}, Case{"cu*", "cu", true}, Case{"cu*", "xcu", false},
                    Case{"*_v2", "cuMemAlloc_v2", true}, Case{"*_v2", "cuMemAlloc_v2_v2", true},
                    Case{"*a*b*", "xaybz", true}, Case{"*a*b*", "xbya", false},
                    Case{"a**b", "ab", true}, Case{"?", "", false}, Case{"?", "a", true},
                    Case{"a?c", "abc", true}, Case{"*?", "", false}, Case{"*?", "abc", true}));

INSTANTIATE_TEST_SUITE_P(
    Sets, GlobMatch,
    testing::Values(Case{"[a-c]x", "bx", true}, Case{"[a-c]x", "dx", false},
                    Case{"[!a-c]x", "dx", true}, Case{"[!a-c]x", "ax", false},
                    Case{"[^a-c]x", "dx", true}, Case{"[^a-c]x", "ax", false},
                    Case{"[]]", "]", true}, Case{"[!]]", "]", false}, Case{"[!]]", "a", true},
                    Case{"[a-]", "-", true}, Case{"[-a]", "-", true}, Case{"[abc", "[abc", true},
                    Case{"[abc", "a", false}, Case{"operator[]", "operator[]", true},
                    Case{"*[0-9]", "cuMemAlloc_v2", true}, Case{"*[0-9]", "cuMemAlloc", false},
                    Case{"[a-cx-z]", "y", true}, Case{"[a-cx-z]", "m", false}));

TEST(GlobMatch, LongBacktrackingIsQuick) {
    std::string name(20000, 'a');
    EXPECT_FALSE(glob_match("*a*a*a*a*a*a*a*a*b", name));
}

TEST(IsGlob, SpecialCharacters) {
    EXPECT_TRUE(is_glob("cu*"));
    EXPECT_TRUE(is_glob("cu?"));
    EXPECT_TRUE(is_glob("cu[AB]"));
    EXPECT_FALSE(is_glob("cuInit"));
    EXPECT_FALSE(is_glob(""));
    EXPECT_FALSE(is_glob("cu[A"));
    EXPECT_FALSE(is_glob("operator[]"));
}

TEST(EscapedGlob, MatchesTheTextAlone) {
    for (const char* text : {"a[1]", "x*?", "[", "plain", "[!a]]"}) {
        EXPECT_TRUE(glob_match(escaped_glob(text), text)) << text;
    }
    EXPECT_EQ(escaped_glob("a[1]"), "a[[]1]");
    EXPECT_FALSE(glob_match(escaped_glob("a[1]"), "a1"));
    EXPECT_FALSE(glob_match(escaped_glob("x*"), "xy"));
}

}  // namespace
}  // namespace mlbcc
