#include "symbols/mappings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "symbols/perf_map.h"

namespace mlbcc::symbols {
namespace {

std::string text_of(const CodeMapping& m) {
    return fmt::format("{:x}-{:x} +{:x} {:02x}:{:02x} {} {}{}", m.start, m.end, m.offset,
                       m.device_major, m.device_minor, m.inode, m.path,
                       m.deleted ? " deleted" : "");
}

TEST(Mappings, AreTheExecutableOnes) {
    std::vector<CodeMapping> maps = code_mappings(
        "7f1c3a5f0000-7f1c3a600000 rwxp 00000000 00:00 0 \n"
        "7f1c3a200000-7f1c3a3a5000 r-xp 00022000 fe:00 1311                       "
        "/usr/lib/libc.so.6\n"
        "7f1c3a3a5000-7f1c3a3f8000 r--p 00177000 fe:00 1311                       "
        "/usr/lib/libc.so.6\n"
        "7f1c3a700000-7f1c3a701000 r-xp 00000000 fe:00 99                         /tmp/a b\\012c "
        "(deleted)\n"
        "7ffd1a5e8000-7ffd1a5ea000 r-xp 00000000 00:00 0                          [vdso]\n");
    std::vector<std::string> lines;
    for (const CodeMapping& mapping : maps) lines.push_back(text_of(mapping));
    EXPECT_EQ(lines, (std::vector<std::string>{
                         "7f1c3a200000-7f1c3a3a5000 +22000 fe:00 1311 /usr/lib/libc.so.6",
                         "7f1c3a5f0000-7f1c3a600000 +0 00:00 0 ",
                         "7f1c3a700000-7f1c3a701000 +0 fe:00 99 /tmp/a b\nc deleted",
                         "7ffd1a5e8000-7ffd1a5ea000 +0 00:00 0 [vdso]"}));
    EXPECT_EQ(find_mapping(maps, 0x7f1c3a200000), &maps[0]);
    EXPECT_EQ(find_mapping(maps, 0x7f1c3a3a4fff), &maps[0]);
    EXPECT_EQ(find_mapping(maps, 0x7f1c3a3a5000), nullptr);
    EXPECT_EQ(find_mapping(maps, 1), nullptr);
}

TEST(Mappings, OfRubbishAreNone) {
    EXPECT_TRUE(code_mappings("").empty());
    EXPECT_TRUE(
        code_mappings("\n\n-\n- - - - - -\nxyz-1 r-xp 0 0:0 0 /a\n7f-80 r-xp\n12-13").empty());
}

TEST(PerfMap, NamesMadeCode) {
    PerfMap map("1000 20 f app.js:1\n2000 10 old\n2000 10 new\nrubbish\n3000 zz x\n4000 8 last");
    ASSERT_TRUE(map.find(0x101f));
    EXPECT_EQ(map.find(0x101f)->name, "f app.js:1");
    EXPECT_EQ(map.find(0x101f)->start, 0x1000u);
    EXPECT_FALSE(map.find(0x1020));
    EXPECT_EQ(map.find(0x2001)->name, "new");
    EXPECT_FALSE(map.find(0x3000));
    EXPECT_EQ(map.find(0x4007)->name, "last");
    EXPECT_FALSE(map.find(0));
    EXPECT_FALSE(PerfMap().find(1));
}

// OpenJDK writes 0x before numbers; some writers end lines as Windows does.
TEST(PerfMap, HasAsManyNamesAsMayBe) {
    std::string text = "1000 10 first\n2000 10 \n";
    for (size_t i = 0; i < PerfMap::kMaxEntries; ++i) text += "5000 1 f\n";
    PerfMap map(text);
    EXPECT_FALSE(map.find(0x1000));
    EXPECT_TRUE(map.find(0x5000));
    EXPECT_FALSE(PerfMap("2000 10 \n2000 10 \r\n").find(0x2000)) << "no name";
}

TEST(PerfMap, NumbersMayHaveAPrefixAndLinesACarriageReturn) {
    PerfMap map("0x1000 0x20 Interpreter\r\n0X2000 10 java.lang.String::hashCode\n0x 10 none\n");
    ASSERT_TRUE(map.find(0x1000));
    EXPECT_EQ(map.find(0x1000)->name, "Interpreter");
    EXPECT_EQ(map.find(0x200f)->name, "java.lang.String::hashCode");
    EXPECT_FALSE(map.find(0x2010));
    EXPECT_FALSE(map.find(0));
}

// Runtimes use the memory of what they threw away again.
TEST(PerfMap, WhatCameLaterCoversWhatWasThere) {
    PerfMap map("1100 20 small\n1800 100 tail\n1000 900 large\n1400 10 inner\n2000 0 empty\n"
                "ffffffffffffff00 ffff last\n");
    auto named = [&](uint64_t address) {
        auto hit = map.find(address);
        return hit ? fmt::format("{}+{:x}", hit->name, address - hit->start) : "";
    };
    EXPECT_EQ(named(0xfff), "");
    EXPECT_EQ(named(0x1000), "large+0");
    EXPECT_EQ(named(0x1110), "large+110");
    EXPECT_EQ(named(0x13ff), "large+3ff");
    EXPECT_EQ(named(0x1400), "inner+0");
    EXPECT_EQ(named(0x1410), "large+410");
    EXPECT_EQ(named(0x18ff), "large+8ff");
    EXPECT_EQ(named(0x1900), "");
    EXPECT_EQ(named(0x2000), "");
    EXPECT_EQ(named(0xffffffffffffff10), "last+10");
    PerfMap cut("1000 900 large\n1100 20 small\n1850 100 tail\n");
    EXPECT_EQ(cut.find(0x1110)->name, "small");
    EXPECT_EQ(cut.find(0x1120)->name, "large");
    EXPECT_EQ(cut.find(0x1850)->name, "tail");
    EXPECT_EQ(cut.find(0x194f)->name, "tail");
    EXPECT_FALSE(cut.find(0x1950));
}

TEST(PerfMap, KnowsWhatCodeWasCalledBefore) {
    PerfMap map("1000 100 first\n1200 100 other\n");
    EXPECT_TRUE(map.add("1080 200 second\n", 10));
    EXPECT_FALSE(map.add("3000 10 new\n", 20));
    EXPECT_TRUE(map.add("1000 40 third\n1020 40 fourth\n", 30));
    auto named = [&](uint64_t address, uint64_t time) {
        auto hit = map.find(address, time);
        return hit ? fmt::format("{}+{:x}", hit->name, address - hit->start) : "";
    };
    EXPECT_EQ(named(0x1030, 9), "first+30");
    EXPECT_EQ(named(0x1030, 29), "first+30");
    EXPECT_EQ(named(0x1030, 30), "fourth+10");
    EXPECT_EQ(named(0x1010, 30), "third+10");
    EXPECT_EQ(named(0x1060, 30), "first+60");
    EXPECT_EQ(named(0x1080, 9), "first+80");
    EXPECT_EQ(named(0x1080, 10), "second+0");
    EXPECT_EQ(named(0x1100, 0), "second+80") << "its first name";
    EXPECT_EQ(named(0x1200, 9), "other+0");
    EXPECT_EQ(named(0x1200, 10), "second+180");
    EXPECT_EQ(named(0x1280, 10), "other+80");
    EXPECT_EQ(named(0x3000, 0), "new+0");
    EXPECT_EQ(named(0x1300, 99), "");
}

// Whoever writes a map must not make it dear.
TEST(PerfMap, OfMuchThatIsCoveredAtOnceTheFormerNamesAreNotKnown) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += fmt::format("{:x} 10 f{}\n", 0x1000 + 16 * i, i);
    PerfMap map(text);
    EXPECT_TRUE(map.add("1000 10000 all\n", 10));
    EXPECT_EQ(map.find(0x1010, 0)->name, "all");
    for (uint64_t time = 11; time < 40; ++time)
        EXPECT_TRUE(map.add(fmt::format("1000 10000 v{}\n", time), time));
    EXPECT_EQ(map.find(0x1010, 39)->name, "v39");
    EXPECT_EQ(map.find(0x1010, 30)->name, "v30");
    EXPECT_EQ(map.find(0x1010, 12)->name, "v24") << "the earliest that is known";
}

}  // namespace
}  // namespace mlbcc::symbols
