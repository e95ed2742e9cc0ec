#include "sink/format.h"

#include <gtest/gtest.h>

#include "sink/rows.h"

namespace mlbcc::sink {
namespace {

constexpr auto kBytes = rules::Unit::bytes;
constexpr auto kTime = rules::Unit::nanoseconds;

TEST(Format, GroupsDigits) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(1024), "1024");
    EXPECT_EQ(grouped(12480), "12 480");
    EXPECT_EQ(grouped(123456), "123 456");
    EXPECT_EQ(grouped(1234567), "1 234 567");
    EXPECT_EQ(grouped(UINT64_MAX), "18 446 744 073 709 551 615");
}

TEST(Format, Shares) {
    EXPECT_EQ(percent(0), "0 %");
    EXPECT_EQ(percent(0.0004), "under 0.001 %");
    EXPECT_EQ(percent(0.00123), "0.0012 %");
    EXPECT_EQ(percent(0.25), "0.25 %");
    EXPECT_EQ(percent(9.4), "9.4 %");
    EXPECT_EQ(percent(45.4), "45 %");
    EXPECT_EQ(percent(99.9), "99 %");
    EXPECT_EQ(percent(100), "100 %");
    EXPECT_EQ(percent(250), "250 %");
}

TEST(Format, Bytes) {
    EXPECT_EQ(amount(uint64_t{0}, kBytes).text(), "0 B");
    EXPECT_EQ(amount(uint64_t{1023}, kBytes).text(), "1023 B");
    EXPECT_EQ(amount(uint64_t{1536}, kBytes).text(), "1.50 KiB");
    EXPECT_EQ(amount(uint64_t{524288000}, kBytes).text(), "500.00 MiB");
    EXPECT_EQ(amount(uint64_t{1} << 30, kBytes).text(), "1.00 GiB");
    EXPECT_EQ(amount(uint64_t{1} << 62, kBytes).text(), "4 194 304.00 TiB");
    EXPECT_EQ(amount(int64_t{-4096}, kBytes).text(), "-4.00 KiB");
    EXPECT_EQ(amount(INT64_MIN, rules::Unit::none).text(), "-9 223 372 036 854 775 808");
}

TEST(Format, Durations) {
    EXPECT_EQ(amount(uint64_t{15234000}, kTime).text(), "15.234 ms");
    EXPECT_EQ(amount(uint64_t{999}, kTime).text(), "999 ns");
    EXPECT_EQ(short_duration(0), "0 ns");
    EXPECT_EQ(short_duration(812), "812 ns");
    EXPECT_EQ(short_duration(18000), "18.0 us");
    EXPECT_EQ(short_duration(81200000), "81.2 ms");
    EXPECT_EQ(short_duration(999600), "1.00 ms");
    EXPECT_EQ(short_duration(1500000000), "1.50 s");
    EXPECT_EQ(short_duration(123456789012), "123 s");
    EXPECT_EQ(short_duration(12345678901234), "12 346 s");
}

TEST(Format, Plurals) {
    EXPECT_EQ(plural(1, "process"), "1 process");
    EXPECT_EQ(plural(2, "process"), "2 processes");
    EXPECT_EQ(plural(0, "event"), "0 events");
    EXPECT_EQ(plural(12480, "event"), "12 480 events");
}

TEST(Format, CountsCharacters) {
    EXPECT_EQ(width_of("h\xc3\xa4"), 2u);
    EXPECT_EQ(padded("h\xc3\xa4", 4), "h\xc3\xa4  ");
    EXPECT_EQ(right_aligned("12", 4), "  12");
    EXPECT_EQ(shortened("void gemm<float>()", 10), "void ge...");
    EXPECT_EQ(shortened("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 4), "\xc3\xa4...");
    EXPECT_EQ(shortened("short", 10), "short");
}

TEST(Rows, ShowWhatSteersTerminals) {
    Rows rows(80);
    rows.add(2, "a\x1b[2Jb", {"5", ""}, " calls\x7f");
    rows.line("a\rb\tc");
    std::string text = rows.text();
    EXPECT_NE(text.find("  a\\x1b[2Jb "), text.npos) << text;
    EXPECT_NE(text.find("5 calls\\x7f\n"), text.npos) << text;
    EXPECT_NE(text.find("a\\rb\\tc\n"), text.npos) << text;
}

TEST(Format, ShortensAtTheEndOrWithin) {
    EXPECT_EQ(shortened("cuMemcpyHtoD", 12), "cuMemcpyHtoD");
    EXPECT_EQ(shortened("cuMemcpyHtoD", 9), "cuMemc...");
    EXPECT_EQ(shortened_within("/usr/lib/python3/json/decoder.py", 20), "/usr/...n/decoder.py");
    EXPECT_EQ(shortened_within("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4"
                               "\xc3\xb6\xc3\xbc\xc3\xa4",
                               9),
              "\xc3\xa4\xc3\xb6...\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4");
}

// What is long in one number's groups cuts no label of another's.
TEST(Rows, LabelsOfEachNumberHaveTheirOwnColumn) {
    Rows rows(60);
    rows.add(2, "Opened", {"3", ""});
    rows.add(4, "/usr/lib/python3/dist-packages/x.py", {"2", ""}, " (66.7 %)");
    rows.add(2, "Time", {"9", " us"}, " in 3 calls");
    rows.add(4, "/usr/lib/python3/dist-packages/x.py", {"8", " us"}, " in 2 calls, p50 <= 3.1 us");
    rows.add(2, "Calls", {"3", ""});
    EXPECT_EQ(rows.text(), "  Opened                                 3\n"
                           "    /usr/lib/python3/dist-packages/x.py  2 (66.7 %)\n"
                           "  Time                        9 us in 3 calls\n"
                           "    /usr/li...-packages/x.py  8 us in 2 calls, p50 <= 3.1 us\n"
                           "  Calls                       3\n");
}

TEST(Format, BitsMayHaveASign) {
    EXPECT_EQ(as_double(UINT64_MAX, true), -1);
    EXPECT_EQ(as_double(1ull << 63, false), 9223372036854775808.0);
    EXPECT_EQ(static_cast<int64_t>(average(static_cast<uint64_t>(-28), 4, true)), -7);
    EXPECT_EQ(average(1ull << 63, 2, false), 1ull << 62);
    EXPECT_EQ(short_amount(static_cast<uint64_t>(-11), rules::Unit::none, true), "-11");
}

}  // namespace
}  // namespace mlbcc::sink
