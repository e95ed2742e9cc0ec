#include "symbols/made_code.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mlbcc::symbols {
namespace {

namespace fs = std::filesystem;

class MadeCodes : public testing::Test {
protected:
    MadeCodes() : folder(fs::temp_directory_path() / fmt::format("mlbcc-made-{}", getpid())) {
        fs::create_directories(folder / "70/root/tmp");
        write_status(getuid());
    }
    ~MadeCodes() override { fs::remove_all(folder); }
    void write_status(uid_t user) const {
        std::ofstream(folder / "70/status")
            << fmt::format("Name:\tnode\nUid:\t1\t{0}\t{0}\t{0}\nNSpid:\t70\t7\n", user);
    }
    MadeCode::Owner owner() const { return {folder, 70, 0, getuid()}; }
    fs::path map() const { return folder / "70/root/tmp/perf-7.map"; }
    static void write_map(const fs::path& path) { std::ofstream(path) << "1000 10 f app.js:1\n"; }

    const fs::path folder;
    MadeCode code;
};

TEST_F(MadeCodes, HaveTheNamesOfTheirOwnersFile) {
    EXPECT_EQ(code.describe(owner(), 0x1006, 0), std::nullopt);
    write_map(folder / "70/root/tmp/perf-7.map");
    EXPECT_EQ(code.describe(owner(), 0x1006, 0), "[jit]:f app.js:1+0x6");
    EXPECT_EQ(code.describe(owner(), 0x1000, 0), std::nullopt) << "the call before it is elsewhere";
}

TEST_F(MadeCodes, HaveNamesThatComeWhenTheProcessIsGone) {
    code.expect(owner());
    fs::rename(folder / "70", folder / "gone");
    write_map(folder / "gone/root/tmp/perf-7.map");
    EXPECT_EQ(code.known(0x1006, 0), std::nullopt);
    code.read_last(owner());
    EXPECT_EQ(code.known(0x1006, 0), "[jit]:f app.js:1+0x6");
}

// A runtime that compiles anew at an address adds a line; what is still being written is none.
TEST_F(MadeCodes, AreNamedAsTheyWereThen) {
    std::ofstream file(map());
    const auto written = [&](const char* text) {
        file << text << std::flush;
        return code.renamed(0, 50);
    };
    EXPECT_EQ(written("1000 10 f_v1\n"), std::nullopt) << "nothing was asked for yet";
    EXPECT_EQ(code.describe(owner(), 0x1006, 10), "[jit]:f_v1+0x6");
    EXPECT_EQ(written("2000 10 g\n1000 10 f_"), std::nullopt);
    EXPECT_EQ(code.known(0x2006, 10), "[jit]:g+0x6") << "what is named first was so before";
    EXPECT_EQ(written("v2\n"), 50U);
    EXPECT_EQ(code.known(0x1006, 49), "[jit]:f_v1+0x6");
    EXPECT_EQ(code.known(0x1006, 50), "[jit]:f_v2+0x6");
    EXPECT_EQ(written(""), std::nullopt);
    EXPECT_EQ(written("1000 10 f_v2\n"), std::nullopt) << "the name that it has";
    struct stat status {};
    ASSERT_EQ(::stat(map().c_str(), &status), 0);
    const auto seconds = static_cast<uint64_t>(status.st_mtim.tv_sec);
    file << "1000 10 f_v3\n" << std::flush;
    const auto since = code.renamed((seconds - 5) * 1'000'000'000, 50);
    ASSERT_TRUE(since);
    EXPECT_GE(*since, 5'000'000'000U);
    EXPECT_LT(*since, 9'000'000'000U);
    EXPECT_EQ(code.known(0x1006, *since - 1), "[jit]:f_v2+0x6");
    EXPECT_EQ(code.known(0x1006, *since), "[jit]:f_v3+0x6");
    fs::resize_file(map(), 0);
    EXPECT_TRUE(code.renamed(0, 60)) << "it was begun anew";
    EXPECT_EQ(code.known(0x1006, 60), std::nullopt);
}

// Whoever may write to /tmp may put what he likes there, under the name of another's process.
TEST_F(MadeCodes, AreNotThoseOfWhatIsNoFileOfTheProcessesUser) {
    const fs::path other = folder / "secret";
    write_map(other);
    const auto is_left_alone = [&] {
        MadeCode fresh;
        return !fresh.describe(owner(), 0x1006, 0);
    };
    fs::create_symlink(other, map());
    EXPECT_TRUE(is_left_alone()) << "a link out of the root";
    fs::remove(map());
    fs::create_symlink(fs::path("..") / ".." / ".." / "secret", map());
    EXPECT_TRUE(is_left_alone()) << "a link out of the root, by dots";
    fs::remove(map());
    write_map(folder / "70/root/tmp/own");
    fs::create_symlink("own", map());
    EXPECT_TRUE(is_left_alone()) << "a link";
    fs::remove(map());
    fs::create_hard_link(other, map());
    EXPECT_TRUE(is_left_alone()) << "another name of a file";
    fs::remove(map());
    ASSERT_EQ(::mkfifo(map().c_str(), 0666), 0);
    EXPECT_TRUE(is_left_alone()) << "a pipe";
    fs::remove(map());
    write_map(map());
    write_status(getuid() + 1);
    EXPECT_TRUE(is_left_alone()) << "another user's";
    write_status(getuid());
    EXPECT_FALSE(is_left_alone());
}

// The newest names are at its end.
TEST_F(MadeCodes, OfALargeFileHaveTheNewest) {
    const std::string first = "1000 10 old\n", last = "3000 10 new\n", line(99, 'x');
    std::ofstream file(map());
    file << first;
    for (size_t bytes = 0; bytes < PerfMap::kMaxBytes; bytes += line.size() + 1)
        file << line << '\n';
    file << last;
    file.close();
    EXPECT_EQ(code.describe(owner(), 0x3006, 0), "[jit]:new+0x6");
    EXPECT_EQ(code.describe(owner(), 0x1006, 0), std::nullopt);
}

// As one whose first stack arrives when it has ended.
TEST_F(MadeCodes, OfAProcessThatIsGoneAreNotNamedAsThoseOfAnOlderOne) {
    const auto pid = static_cast<uint32_t>(getpid());
    const fs::path map = fmt::format("/tmp/perf-{}.map", pid);
    write_map(map);
    struct stat written {};
    ASSERT_EQ(::stat(map.c_str(), &written), 0);
    const auto seconds = static_cast<uint64_t>(written.st_mtim.tv_sec);
    const std::string gone = folder / "gone";
    code.read_last({gone, pid, (seconds + 2) * 1'000'000'000, getuid()});
    EXPECT_EQ(code.known(0x1006, 0), std::nullopt) << "it was written before";
    code.read_last({gone, pid, 0, getuid()});
    EXPECT_EQ(code.known(0x1006, 0), std::nullopt) << "nothing is known of its time";
    code.read_last({gone, pid, seconds * 1'000'000'000, getuid() + 1});
    EXPECT_EQ(code.known(0x1006, 0), std::nullopt) << "it is another user's";
    code.read_last({gone, pid, seconds * 1'000'000'000, getuid()});
    EXPECT_EQ(code.known(0x1006, 0), "[jit]:f app.js:1+0x6");
    fs::remove(map);
}

}  // namespace
}  // namespace mlbcc::symbols
