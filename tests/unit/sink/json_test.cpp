#include "sink/json.h"

#include <rapidjson/document.h>

#include <random>

#include <gtest/gtest.h>

#include "event/test_plan.h"
#include "sink/sink.h"

namespace mlbcc::sink {
namespace {

using test::Kind;

event::Value value(const plan::ValueType& type, uint64_t bits, std::string_view text = {}) {
    return {&type, bits, text, false, false};
}
std::string json(Kind kind, uint64_t bits, std::string_view text = {}) {
    plan::ValueType type{kind, 8};
    return json_text(value(type, bits, text));
}
uint64_t minus(int64_t number) {
    return static_cast<uint64_t>(-number);
}

TEST(Json, NumbersAreExact) {
    EXPECT_EQ(json(Kind::unsigned_int, 0), "0");
    EXPECT_EQ(json(Kind::unsigned_int, 9007199254740992), "9007199254740992");
    EXPECT_EQ(json(Kind::unsigned_int, 9007199254740993), "\"9007199254740993\"");
    EXPECT_EQ(json(Kind::unsigned_int, UINT64_MAX), "\"18446744073709551615\"");
    EXPECT_EQ(json(Kind::signed_int, minus(1)), "-1");
    EXPECT_EQ(json(Kind::signed_int, minus(9007199254740992)), "-9007199254740992");
    EXPECT_EQ(json(Kind::signed_int, minus(9007199254740993)), "\"-9007199254740993\"");
    EXPECT_EQ(json(Kind::signed_int, uint64_t{1} << 63), "\"-9223372036854775808\"");
}

TEST(Json, EachKindHasItsForm) {
    EXPECT_EQ(json(Kind::hex, 0x7f0000001000), "\"0x7f0000001000\"");
    EXPECT_EQ(json(Kind::hex, 0), "\"0x0\"");
    EXPECT_EQ(json(Kind::hex, UINT64_MAX), "\"0xffffffffffffffff\"");
    EXPECT_EQ(json(Kind::boolean, 1), "true");
    EXPECT_EQ(json(Kind::boolean, 0), "false");
    EXPECT_EQ(json(Kind::enumeration, 0, "CUDA_SUCCESS"), "\"CUDA_SUCCESS\"");
    EXPECT_EQ(json(Kind::enumeration, 999), "999");
    EXPECT_EQ(json(Kind::enumeration, minus(2)), "-2");
    EXPECT_EQ(json(Kind::character, 'a'), "\"a\"");
    EXPECT_EQ(json(Kind::character, '\n'), "\"\\n\"");
    EXPECT_EQ(json(Kind::character, 0), "\"\\u0000\"");
    EXPECT_EQ(json(Kind::character, 0xe4), "\"\\u00e4\"");
    EXPECT_EQ(json(Kind::text, 0, "gemm"), "\"gemm\"");
    EXPECT_EQ(json(Kind::text, 0, ""), "\"\"");
    EXPECT_EQ(json(Kind::comm, 0, "python3"), "\"python3\"");
    EXPECT_EQ(json(Kind::function, 0, "cuInit"), "\"cuInit\"");
}

TEST(Json, LearntAndUnreadValues) {
    plan::ValueType hex{Kind::hex, 8};
    EXPECT_EQ(json_text({&hex, 0x10, "gemm", true, false}), "\"gemm\"");
    EXPECT_EQ(json_text({&hex, 0x10, "", true, false}), "\"\"");
    EXPECT_EQ(json_text({&hex, 0x10, "", false, true}), "null");
}

TEST(Json, PlainTextIsForPeople) {
    EXPECT_EQ(plain_text(R"("say \"hi\" to C:\\x\n")"), R"(say "hi" to C:\x\n)");
    EXPECT_EQ(plain_text("42"), "42");
    EXPECT_EQ(plain_text(R"("\\")"), "\\");
}

TEST(Json, TextIsEscaped) {
    EXPECT_EQ(quoted("say \"hi\" \\ \b\f\n\r\t\x01\x1f\x7f"),
              "\"say \\\"hi\\\" \\\\ \\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"");
    EXPECT_EQ(quoted("h\xc3\xa4lt \xe2\x82\xac \xf0\x9f\x98\x80"),
              "\"h\xc3\xa4lt \xe2\x82\xac \xf0\x9f\x98\x80\"");
}

TEST(Json, WhatIsNotUtf8IsEscapedByteByByte) {
    EXPECT_EQ(quoted("a\xff"
                     "b"),
              "\"a\\u00ffb\"");
    EXPECT_EQ(quoted("\xc3"), "\"\\u00c3\"");                                   // cut short
    EXPECT_EQ(quoted("\xe2\x82"), "\"\\u00e2\\u0082\"");                        // cut short
    EXPECT_EQ(quoted("\xc0\xaf"), "\"\\u00c0\\u00af\"");                        // overlong
    EXPECT_EQ(quoted("\xe0\x9f\xbf"), "\"\\u00e0\\u009f\\u00bf\"");             // overlong
    EXPECT_EQ(quoted("\xed\xa0\x80"), "\"\\u00ed\\u00a0\\u0080\"");             // a surrogate
    EXPECT_EQ(quoted("\xf4\x90\x80\x80"), "\"\\u00f4\\u0090\\u0080\\u0080\"");  // above U+10FFFF
    EXPECT_EQ(quoted("\xf0\x8f\xbf\xbf"), "\"\\u00f0\\u008f\\u00bf\\u00bf\"");  // overlong
    EXPECT_EQ(quoted("\x80"), "\"\\u0080\"");
    EXPECT_EQ(quoted("\xc3\xa4\xc3"), "\"\xc3\xa4\\u00c3\"");
}

// Whatever the bytes, the text is JSON in valid UTF-8, and plain parts come back as they were.
TEST(Json, AnyBytesAreValid) {
    std::mt19937 random(3);
    for (int round = 0; round < 5000; ++round) {
        std::string bytes(random() % 24, 0);
        for (char& c : bytes)
            c = static_cast<char>(
                random() % 4 == 0 ? random()
                                  : "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80zA\"\\"[random() % 13]);
        std::string text = sink::quoted(bytes);
        rapidjson::Document document;
        document.Parse<rapidjson::kParseValidateEncodingFlag>(text.c_str());
        ASSERT_FALSE(document.HasParseError()) << text;
        ASSERT_TRUE(document.IsString());
    }
}

}  // namespace
}  // namespace mlbcc::sink
