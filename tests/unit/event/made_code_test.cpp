#include "event/made_code.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mlbcc::event {
namespace {

namespace fs = std::filesystem;

class MadeCodes : public testing::Test {
protected:
    MadeCodes() : folder(fs::temp_directory_path() / fmt::format("mlbcc-made-{}", getpid())) {
        fs::create_directories(folder / "70/root/tmp");
        std::ofstream(folder / "70/status") << "Name:\tnode\nNSpid:\t70\t7\nUmask:\t0022\n";
    }
    ~MadeCodes() override { fs::remove_all(folder); }
    MadeCode::Owner owner() const { return {folder / "70", 70, 0}; }
    static void write_map(const fs::path& path) { std::ofstream(path) << "1000 10 f app.js:1\n"; }

    const fs::path folder;
    MadeCode code;
};

TEST_F(MadeCodes, HaveTheNamesOfTheirOwnersFile) {
    EXPECT_EQ(code.describe(owner(), 0x1006), std::nullopt);
    write_map(folder / "70/root/tmp/perf-7.map");
    EXPECT_EQ(code.describe(owner(), 0x1006), "[jit]:f app.js:1+0x6");
    EXPECT_EQ(code.describe(owner(), 0x1000), std::nullopt) << "the call before it is elsewhere";
}

TEST_F(MadeCodes, HaveNamesThatComeWhenTheProcessIsGone) {
    code.expect(owner());
    fs::rename(folder / "70", folder / "gone");
    write_map(folder / "gone/root/tmp/perf-7.map");
    EXPECT_EQ(code.known(0x1006), std::nullopt);
    code.read_last(owner());
    EXPECT_EQ(code.known(0x1006), "[jit]:f app.js:1+0x6");
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
    code.read_last({gone, pid, (seconds + 2) * 1'000'000'000});
    EXPECT_EQ(code.known(0x1006), std::nullopt) << "it was written before";
    code.read_last({gone, pid, 0});
    EXPECT_EQ(code.known(0x1006), std::nullopt) << "nothing is known of its time";
    code.read_last({gone, pid, seconds * 1'000'000'000});
    EXPECT_EQ(code.known(0x1006), "[jit]:f app.js:1+0x6");
    fs::remove(map);
}

}  // namespace
}  // namespace mlbcc::event
