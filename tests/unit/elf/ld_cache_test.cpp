#include "elf/ld_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>

#include "base/read_file.h"

namespace mlbcc::elf {
namespace {

struct Row {
    int32_t flags;
    std::string soname, path;
    uint64_t hwcap = 0;
};

template <class T> void put(std::string& bytes, T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// A cache as ldconfig writes it.
std::string cache_of(const std::vector<Row>& rows) {
    std::string strings, bytes = "glibc-ld.so.cache1.1";
    const auto strings_begin = static_cast<uint32_t>(48 + rows.size() * 24);
    put<uint32_t>(bytes, static_cast<uint32_t>(rows.size()));
    put<uint32_t>(bytes, 0);
    bytes.append(20, '\0');
    for (const Row& row : rows) {
        put<int32_t>(bytes, row.flags);
        put<uint32_t>(bytes, strings_begin + static_cast<uint32_t>(strings.size()));
        strings += row.soname + '\0';
        put<uint32_t>(bytes, strings_begin + static_cast<uint32_t>(strings.size()));
        strings += row.path + '\0';
        put<uint32_t>(bytes, 0);
        put<uint64_t>(bytes, row.hwcap);
    }
    return bytes + strings;
}

std::string text_of(const Result<std::vector<CachedLibrary>>& libraries) {
    if (!libraries) return libraries.error().message();
    std::string text;
    for (const CachedLibrary& each : *libraries) {
        text += fmt::format("{} {} {:x}\n", each.soname, each.path, each.hwcap);
    }
    return text;
}

const std::vector<Row> kRows{{0x0303, "libx.so.1", "/lib/libx.so.1"},
                             {0x0003, "libx.so.1", "/lib32/libx.so.1"},
                             {0x0303, "liby.so", "/lib/v3/liby.so", 0x4000000000000001},
                             {0x0a03, "libx.so.1", "/arm/libx.so.1"}};

TEST(LdCache, GivesTheLibrariesOfOneMachine) {
    EXPECT_EQ(text_of(parse_ld_cache(cache_of(kRows), "x86_64")),
              "libx.so.1 /lib/libx.so.1 0\nliby.so /lib/v3/liby.so 4000000000000001\n");
    EXPECT_EQ(text_of(parse_ld_cache(cache_of(kRows), "aarch64")), "libx.so.1 /arm/libx.so.1 0\n");
    EXPECT_EQ(text_of(parse_ld_cache(cache_of(kRows), "riscv64")), "");
}

TEST(LdCache, SkipsTheOldCacheInFront) {
    std::string old("ld.so-1.7.0\0", 12);
    put<uint32_t>(old, 3);
    old.append(3 * 12 + 4, '\0');  // 52 bytes of entries end at 52, the new cache begins at 56
    EXPECT_EQ(text_of(parse_ld_cache(old + cache_of(kRows), "aarch64")),
              "libx.so.1 /arm/libx.so.1 0\n");
}

TEST(LdCache, RejectsOtherFiles) {
    for (const std::string text :
         {"", "glibc-ld.so.cache1.0 and more and more and more and more", "glibc-ld.so.cache1.1"}) {
        const auto result = parse_ld_cache(text, "x86_64");
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().message(),
                  "the loader's cache is not in the format glibc-ld.so.cache1.1");
        EXPECT_EQ(result.error().help, "run `ldconfig`");
    }
}

TEST(LdCache, SurvivesAnyBytes) {
    const std::string whole = cache_of(kRows);
    size_t read = 0;
    for (size_t size = 0; size < whole.size(); size++) {
        if (parse_ld_cache(std::string_view(whole).substr(0, size), "x86_64")) read++;
    }
    std::mt19937 random(1);
    for (int i = 0; i < 20000; i++) {
        std::string broken = whole;
        for (int n = 0; n < 3; n++) {
            broken[20 + random() % (broken.size() - 20)] = static_cast<char>(random());
        }
        if (parse_ld_cache(broken, "x86_64")) read++;
    }
    EXPECT_EQ(read, 20000 + whole.size() - 48);
}

// `ldconfig -p`: "	libc.so.6 (libc6,x86-64) => /lib/x86_64-linux-gnu/libc.so.6"
std::vector<std::string> ldconfig_lines() {
    std::vector<std::string> lines;
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen("/sbin/ldconfig -p", "r"), pclose);
    std::array<char, 4096> line;
    while (pipe != nullptr && fgets(line.data(), line.size(), pipe.get()) != nullptr) {
        const std::string text(line.data());
        if (text.find("(libc6,x86-64") == std::string::npos) continue;
        const std::string soname = text.substr(1, text.find(" (") - 1);
        const size_t path = text.find("=> ") + 3;
        lines.push_back(soname + " " + text.substr(path, text.size() - path - 1));
    }
    return lines;
}

TEST(LdCache, SaysWhatLdconfigSaysOfThisMachine) {
    const auto bytes = read_file("/etc/ld.so.cache", 64 << 20);
    if (!bytes) GTEST_SKIP() << bytes.error().message();
    const std::vector<std::string> expected = ldconfig_lines();
    if (expected.empty()) GTEST_SKIP() << "no ldconfig, or not x86-64";
    const auto libraries = parse_ld_cache(*bytes, "x86_64");
    ASSERT_TRUE(libraries);
    std::vector<std::string> lines;
    for (const CachedLibrary& each : *libraries) lines.push_back(each.soname + " " + each.path);
    EXPECT_EQ(lines, expected);
}

}  // namespace
}  // namespace mlbcc::elf
