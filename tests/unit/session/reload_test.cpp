#include "session/reload.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file_cache.h"

namespace mlbcc::session {
namespace {

namespace fs = std::filesystem;

class Watched : public testing::Test {
protected:
    Watched() : folder(fs::temp_directory_path() / ("mlbcc-watch-" + std::to_string(::getpid()))) {
        fs::create_directories(folder);
        write("a", "one");
        write("b", "one");
        files.watch({{path("a"), file_state(path("a"))}, {path("b"), file_state(path("b"))}},
                    false);
    }
    ~Watched() override { fs::remove_all(folder); }
    std::string path(const std::string& name) const { return (folder / name).string(); }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name)) << text;
    }
    // As often as it takes for a file to be left alone.
    std::optional<std::string> look() {
        time += 1'000'000'000;
        return files.changed(time);
    }
    fs::path folder;
    WatchedFiles files;
    uint64_t time = 0;
};

TEST_F(Watched, WhatStaysIsNoChange) {
    EXPECT_EQ(look(), std::nullopt);
    EXPECT_EQ(look(), std::nullopt);
}

TEST_F(Watched, AChangeIsToldOnceAndWhenItIsOver) {
    write("b", "another");
    EXPECT_EQ(look(), std::nullopt);
    write("b", "and another");
    EXPECT_EQ(look(), std::nullopt);
    EXPECT_EQ(look(), path("b"));
    EXPECT_EQ(look(), std::nullopt);
}

TEST_F(Watched, AFileThatIsGoneMayComeBack) {
    fs::remove(path("a"));
    EXPECT_EQ(look(), std::nullopt);
    EXPECT_EQ(look(), std::nullopt);
    write("a", "again, and longer");
    EXPECT_EQ(look(), std::nullopt);
    EXPECT_EQ(look(), path("a"));
}

TEST_F(Watched, AfterAMistakeTheOldFilesAreWatchedToo) {
    write("c", "one");
    files.watch({{path("c"), file_state(path("c"))}}, true);
    write("a", "mended now");
    EXPECT_EQ(look(), std::nullopt);
    EXPECT_EQ(look(), path("a"));
    write("c", "changed");
    EXPECT_EQ(look(), std::nullopt);
    EXPECT_EQ(look(), path("c"));
}

TEST_F(Watched, WhatChangedBetweenReadingAndWatchingIsSeen) {
    const std::string read = file_state(path("a"));
    write("a", "newer than what was read");
    files.watch({{path("a"), read}}, false);
    EXPECT_EQ(look(), std::nullopt);
    EXPECT_EQ(look(), path("a"));
}

TEST(HeldRecords, AreGivenOnceInTheirOrder) {
    HeldRecords held;
    const std::vector<std::byte> one(3, std::byte{1}), two(5, std::byte{2});
    held.add(4, one);
    held.add(0, two);
    std::vector<std::pair<uint32_t, std::vector<std::byte>>> given;
    auto take = [&](uint32_t cpu, std::span<const std::byte> record) {
        given.push_back({cpu, {record.begin(), record.end()}});
    };
    held.give(take);
    held.give(take);
    ASSERT_EQ(given.size(), 2u);
    EXPECT_EQ(given[0], (std::pair<uint32_t, std::vector<std::byte>>{4, one}));
    EXPECT_EQ(given[1], (std::pair<uint32_t, std::vector<std::byte>>{0, two}));
}

}  // namespace
}  // namespace mlbcc::session
