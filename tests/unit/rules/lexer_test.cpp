#include "rules/lexer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mlbcc::rules {
namespace {

// "kind:text", one a token; what an error says behind it.
std::string lex(const std::string& text) {
    SourceFile file("a.rules", text);
    Lexer lexer(file);
    std::string out;
    for (Token token = lexer.next(); token.kind != TokenKind::end; token = lexer.next()) {
        if (!out.empty()) out += ' ';
        out += token.text();
        if (token.kind == TokenKind::error) out += " <" + token.error().message + ">";
    }
    return out;
}

TEST(Lexer, TokensHangTogetherAsInC) {
    EXPECT_EQ(lex("a->b.c[1]<<=2>>3&&4||!5"), "a -> b . c [ 1 ] <<= 2 >> 3 && 4 || ! 5");
    EXPECT_EQ(lex("a+=b-=c==d=e"), "a += b -= c == d = e");
    EXPECT_EQ(lex("a---b"), "a -- - b");
    EXPECT_EQ(lex("(a)?b:c"), "( a ) ? b : c");
    EXPECT_EQ(lex("_a1 $b"), "_a1 $b");
}

TEST(Lexer, CommentsFallOut) {
    EXPECT_EQ(lex("a # one\nb // two\nc /* three\n four */ d"), "a b c d");
    EXPECT_EQ(lex("\"# no\" '#' # yes"), "\"# no\" '#'");
    EXPECT_EQ(lex("# only"), "");
    EXPECT_EQ(lex("a#b"), "a");
    EXPECT_EQ(lex("a / b"), "a / b");
    EXPECT_EQ(lex("a /* b"), "a /* <the comment is not closed>");
}

TEST(Lexer, QuotesEndOnTheirLine) {
    EXPECT_EQ(lex("\"a\\\"b\" c"), "\"a\\\"b\" c");
    EXPECT_EQ(lex("\"abc\nd"), "\"abc <the string is not closed> d");
    EXPECT_EQ(lex("\"abc\\\nd"), "\"abc\\ <the string is not closed> d");
    EXPECT_EQ(lex("\"abc\\"), "\"abc\\ <the string is not closed>");
    EXPECT_EQ(lex("\""), "\" <the string is not closed>");
    EXPECT_EQ(lex("it's\nb"), "it 's <the character is not closed> b");
}

TEST(Lexer, WhatMeansNothing) {
    EXPECT_EQ(lex("a @ b"), "a @ <`@` has no meaning here> b");
    EXPECT_EQ(lex("\xe2\x80\x9c"
                  "a"),
              "\xe2\x80\x9c <`\xe2\x80\x9c` has no meaning here> a");
    EXPECT_EQ(lex("`"), "` <``` has no meaning here>");
}

TEST(Lexer, FirstOnItsLine) {
    SourceFile file("a.rules", "a b\n  c /* x\n */ d\n");
    Lexer lexer(file);
    std::string first;
    for (Token token = lexer.next(); token.kind != TokenKind::end; token = lexer.next()) {
        first += token.first_on_line ? '1' : '0';
    }
    EXPECT_EQ(first, "1010");
}

std::string glob(const std::string& text) {
    SourceFile file("a.rules", text);
    Token token = Lexer(file).glob_at(0);
    if (token.kind == TokenKind::error) return "<" + token.error().message + ">";
    return token.kind == TokenKind::glob ? token.characters() : "none";
}

TEST(Lexer, Globs) {
    EXPECT_EQ(glob("cu* {"), "cu*");
    EXPECT_EQ(glob("*, x"), "*");
    EXPECT_EQ(glob("cu[A-C]?_v2{"), "cu[A-C]?_v2");
    EXPECT_EQ(glob("[!a]b"), "[!a]b");
    EXPECT_EQ(glob("f.part.0:"), "f.part.0");
    EXPECT_EQ(glob("123"), "123");
    EXPECT_EQ(glob("at::_ops::*::call, x"), "at::_ops::*::call");
    EXPECT_EQ(glob("::f {"), "::f");
    EXPECT_EQ(glob("Net::~Net{"), "Net::~Net");
    EXPECT_EQ(glob("sched:x"), "sched");
    EXPECT_EQ(glob("cu[A {"), "<`[` is not closed in the pattern>");
    EXPECT_EQ(glob("{"), "none");
    EXPECT_EQ(glob(""), "none");
}

std::string number(std::string_view text) {
    auto value = read_number(text);
    if (auto* why = std::get_if<LiteralError>(&value)) {
        std::string out = why->message;
        if (!why->note.empty()) out += " | " + why->note;
        if (!why->help.empty()) out += " | " + why->help;
        return out;
    }
    const auto& n = std::get<NumberExpr>(value);
    const char* unit = n.unit == Unit::nanoseconds ? "ns" : n.unit == Unit::bytes ? "B" : "";
    return fmt::format("{}{}{}", n.value, unit, n.hex ? " hex" : "");
}

TEST(Numbers, Bases) {
    EXPECT_EQ(number("0"), "0");
    EXPECT_EQ(number("42"), "42");
    EXPECT_EQ(number("0x1F"), "31 hex");
    EXPECT_EQ(number("0XffULL"), "255 hex");
    EXPECT_EQ(number("0b101"), "5");
    EXPECT_EQ(number("0755"), "493");
    EXPECT_EQ(number("10u"), "10");
    EXPECT_EQ(number("18446744073709551615"), "18446744073709551615");
}

TEST(Numbers, Units) {
    EXPECT_EQ(number("7ns"), "7ns");
    EXPECT_EQ(number("7us"), "7000ns");
    EXPECT_EQ(number("5ms"), "5000000ns");
    EXPECT_EQ(number("2s"), "2000000000ns");
    EXPECT_EQ(number("1KiB"), "1024B");
    EXPECT_EQ(number("1MiB"), "1048576B");
    EXPECT_EQ(number("3GiB"), "3221225472B");
    EXPECT_EQ(number("1KB"), "1000B");
    EXPECT_EQ(number("1B"), "1B");
    EXPECT_EQ(number("1MB"), "1000000B");
    EXPECT_EQ(number("1GB"), "1000000000B");
    EXPECT_EQ(number("0x10KiB"), "16384B hex");
}

TEST(Numbers, Fractions) {
    EXPECT_EQ(number("1.5ms"), "1500000ns");
    EXPECT_EQ(number("0.25KiB"), "256B");
    EXPECT_EQ(number("0.000000001s"), "1ns");
    EXPECT_EQ(number("2.0"), "2");
    EXPECT_EQ(number("1.5"), "`1.5` is not a whole number | "
                             "give it a unit that makes it whole, such as `1.5ms`");
    EXPECT_EQ(number("1.5ns"), "`1.5ns` is not a whole number of nanoseconds");
    EXPECT_EQ(number("0.3KiB"), "`0.3KiB` is not a whole number of bytes");
    EXPECT_EQ(number("0.1234567890123456789s"),
              "`0.1234567890123456789s` is not a whole number of nanoseconds");
}

TEST(Numbers, Overflow) {
    EXPECT_EQ(number("18446744073709551616"), "`18446744073709551616` does not fit in 64 bits");
    EXPECT_EQ(number("0x10000000000000000"), "`0x10000000000000000` does not fit in 64 bits");
    EXPECT_EQ(number("18446744074s"), "`18446744074s` does not fit in 64 bits");
    EXPECT_EQ(number("17179869183.9GiB"), "`17179869183.9GiB` is not a whole number of bytes");
    EXPECT_EQ(number("17179869184GiB"), "`17179869184GiB` does not fit in 64 bits");
    EXPECT_EQ(number("18446744073.709551616s"), "`18446744073.709551616s` does not fit in 64 bits");
}

TEST(Numbers, Mistakes) {
    EXPECT_EQ(number("0x"), "`0x` has no digits");
    EXPECT_EQ(number("08"), "`8` is not an octal digit | "
                            "remove the `0` in front: it makes the number octal");
    EXPECT_EQ(number("0b12"), "`2` is not a binary digit");
    EXPECT_EQ(number("5Mb"),
              "`Mb` is not a unit | the units are `ns`, `us`, `ms`, `s`, `B`, `KiB`, "
              "`MiB`, `GiB`, `KB`, `MB`, `GB` | "
              "a unit with a similar name exists: `MB`");
    EXPECT_EQ(number("5minutes"), "`minutes` is not a unit | the units are `ns`, `us`, `ms`, `s`, "
                                  "`B`, `KiB`, `MiB`, `GiB`, `KB`, `MB`, `GB`");
}

std::string quoted(std::string_view text) {
    auto value = read_quoted(text);
    if (auto* why = std::get_if<LiteralError>(&value)) return "error: " + why->message;
    return std::get<std::string>(value);
}

TEST(Quotes, Escapes) {
    EXPECT_EQ(quoted(R"("plain")"), "plain");
    EXPECT_EQ(quoted(R"("a\n\t\\\"\'")"), "a\n\t\\\"'");
    EXPECT_EQ(quoted(R"("\x41\x4a\101\e")"), "AJA\x1b");
    EXPECT_EQ(quoted(R"('a')"), "a");
    EXPECT_EQ(quoted(R"('\0')"), std::string(1, '\0'));
    EXPECT_EQ(quoted(R"('\xff')"), "\xff");
    EXPECT_EQ(quoted(R"('"')"), "\"");
}

TEST(Quotes, Mistakes) {
    EXPECT_EQ(quoted(R"("\q")"), "error: `\\q` is not an escape");
    EXPECT_EQ(quoted(R"("\x")"), "error: `\\x` is not an escape");
    EXPECT_EQ(quoted(R"('\777')"), "error: `\\7` is not an escape");
    EXPECT_EQ(quoted(R"("a\0b")"), "error: a string cannot hold a zero byte");
    EXPECT_EQ(quoted("''"), "error: `''` is not one byte");
    EXPECT_EQ(quoted("'ab'"), "error: `'ab'` is not one byte");
    EXPECT_EQ(quoted("'\xc3\xa4'"), "error: `'\xc3\xa4'` is not one byte");
}

}  // namespace
}  // namespace mlbcc::rules
