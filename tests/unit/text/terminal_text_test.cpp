#include "text/terminal_text.h"

#include <gtest/gtest.h>

namespace mlbcc {
namespace {

TEST(TerminalText, WhatSteersATerminalIsShownByNumber) {
    EXPECT_EQ(on_terminal("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
    EXPECT_EQ(on_terminal(std::string_view("a\0b\x7f", 4)), "a\\x00b\\x7f");
    EXPECT_EQ(on_terminal("one\r\n\ttwo"), "one\\r\\n\\ttwo");
    EXPECT_EQ(on_terminal("\xc2\x9b"
                          "2J"),
              "\\u009b2J");
    EXPECT_EQ(on_terminal("\xc2\x80\xc2\x9f\xc2\xa0"), "\\u0080\\u009f\xc2\xa0");
}

TEST(TerminalText, WhatTurnsTextAroundIsShownByNumber) {
    EXPECT_EQ(on_terminal("a\u202eb\u2066c\u2069\u200f\u200e\u061c\u2028"),
              "a\\u202eb\\u2066c\\u2069\\u200f\\u200e\\u061c\\u2028");
}

TEST(TerminalText, BytesThatAreNoUtf8AreShownByNumber) {
    EXPECT_EQ(on_terminal("\xff\xfe\x80"
                          "bad"),
              "\\xff\\xfe\\x80bad");
    EXPECT_EQ(on_terminal("\xc0\x9b"), "\\xc0\\x9b");           // an overlong form
    EXPECT_EQ(on_terminal("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
    EXPECT_EQ(on_terminal("cut \xe2\x82"), "cut \\xe2\\x82");
    EXPECT_EQ(on_terminal("\x9b"
                          "2J"),
              "\\x9b2J");
}

TEST(TerminalText, AllElseStandsForItself) {
    const std::string text =
        "plain, \\ \"quotes\" \u00e4\u00f6\u00fc \u4f60\u597d \U0001f600 \u250c\u2500";
    EXPECT_EQ(on_terminal(text), text);
    EXPECT_EQ(on_terminal(""), "");
    EXPECT_EQ(lines_on_terminal("one\ntwo\x1b\n"), "one\ntwo\\x1b\n");
}

}  // namespace
}  // namespace mlbcc
