#include "base/file_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace mlbcc {
namespace {

namespace fs = std::filesystem;

class Cache : public testing::Test {
protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "mlbcc-cache-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        root_ = name;
    }
    void TearDown() override { fs::remove_all(root_); }
    std::string folder() const { return root_ / "a" / "cache"; }
    std::vector<fs::path> files() const {
        std::vector<fs::path> all;
        for (const auto& one : fs::directory_iterator(folder())) all.push_back(one.path());
        return all;
    }
    fs::path root_;
};

TEST_F(Cache, KeepsAnswers) {
    const FileCache cache(folder());
    EXPECT_TRUE(cache.is_used());
    EXPECT_EQ(cache.get("one"), std::nullopt);
    cache.put("one", "1");
    cache.put("two", std::string("\0\n", 2));
    cache.put("none", "");
    EXPECT_EQ(cache.get("one"), "1");
    EXPECT_EQ(FileCache(folder()).get("two"), std::string("\0\n", 2));
    EXPECT_EQ(cache.get("none"), "");
    cache.put("one", "another");
    EXPECT_EQ(cache.get("one"), "another");
    EXPECT_EQ(files().size(), 3u);
    struct stat status {};
    ASSERT_EQ(::stat(files()[0].c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(Cache, OfNoFolderKeepsNothing) {
    const FileCache cache;
    EXPECT_FALSE(cache.is_used());
    cache.put("one", "1");
    EXPECT_EQ(cache.get("one"), std::nullopt);
    EXPECT_FALSE(FileCache("/proc/nowhere/cache").is_used());
}

TEST_F(Cache, BelievesNothingThatIsBroken) {
    const FileCache cache(folder());
    cache.put("one", std::string(1000, 'x'));
    const fs::path file = files().at(0);
    const auto whole = fs::file_size(file);
    for (uintmax_t size : {whole - 1, whole / 2, uintmax_t{20}, uintmax_t{0}}) {
        fs::resize_file(file, size);
        EXPECT_EQ(cache.get("one"), std::nullopt) << size;
    }
    for (uintmax_t at : {uintmax_t{0}, uintmax_t{17}, uintmax_t{33}, uintmax_t{49}, whole - 1}) {
        cache.put("one", std::string(1000, 'x'));
        ASSERT_TRUE(cache.get("one"));
        std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(at).put('y');
        EXPECT_EQ(cache.get("one"), std::nullopt) << at;
    }
    cache.put("one", "1");
    fs::rename(file, root_ / "other");
    cache.put("two", "2");
    fs::rename(root_ / "other", files().at(0));  // an own file under another's name
    EXPECT_EQ(cache.get("two"), std::nullopt);
}

// The folder is whatever the user has named: it may be full of files of his own.
TEST_F(Cache, RemovesItsOwnFilesOnly) {
    const FileCache cache(folder());
    const std::string digits = "0123456789abcdef0123456789abcdef";
    std::vector<std::string> own;
    for (int i = 0; i < 100; ++i) own.push_back("chapter" + std::to_string(i) + ".txt");
    for (const char* behind : {"", ".1", ".part", "."}) own.push_back(digits + behind);
    own.push_back(digits.substr(1));
    for (const std::string& name : own) std::ofstream(folder() + "/" + name) << "a chapter\n";
    for (size_t i = 0; i < 2 * FileCache::kMaxFiles; ++i)
        cache.put(std::to_string(i), std::string(1000, 'x'));
    for (const std::string& name : own) EXPECT_TRUE(fs::exists(folder() + "/" + name)) << name;
    EXPECT_EQ(files().size(), own.size() + FileCache::kMaxFiles);
}

// So do files that are not finished; links, pipes and folders with such names stay.
TEST_F(Cache, APartOfAProcessThatEndedGoes) {
    const FileCache cache(folder());
    cache.put("one", "1");
    const fs::path part = files().at(0).string() + ".4711";
    fs::copy_file(files().at(0), part);
    const std::string digits = folder() + "/0123456789abcdef0123456789abcde";
    fs::create_symlink(files().at(0), digits + "0");
    fs::create_directory(digits + "1");
    ASSERT_EQ(::mkfifo((digits + "2").c_str(), 0600), 0);
    for (size_t i = 0; i < 2 * FileCache::kMaxFiles; ++i) cache.put(std::to_string(i), "x");
    EXPECT_FALSE(fs::exists(part));
    EXPECT_EQ(files().size(), 3 + FileCache::kMaxFiles);
}

TEST_F(Cache, BelievesNobodyElse) {
    const FileCache cache(folder());
    cache.put("one", "1");
    const fs::path file = files().at(0);
    ::chmod(file.c_str(), 0620);
    EXPECT_EQ(cache.get("one"), std::nullopt);
    ::chmod(file.c_str(), 0600);
    EXPECT_EQ(cache.get("one"), "1");
    fs::rename(file, root_ / "kept");
    fs::create_symlink(root_ / "kept", file);
    EXPECT_EQ(cache.get("one"), std::nullopt);
    fs::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    EXPECT_EQ(cache.get("one"), std::nullopt);
    fs::remove(file);
    fs::rename(root_ / "kept", file);
    EXPECT_EQ(cache.get("one"), "1");
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown(file.c_str(), 1, 1), 0);
        EXPECT_EQ(cache.get("one"), std::nullopt);
    }
    ::chmod(folder().c_str(), 0777);
    EXPECT_FALSE(FileCache(folder()).is_used());
    ::chmod(folder().c_str(), 0700);
    fs::create_symlink(folder(), root_ / "link");
    EXPECT_FALSE(FileCache(root_ / "link").is_used());
}

TEST_F(Cache, TheOldestGo) {
    const FileCache cache(folder());
    for (size_t i = 0; i < FileCache::kMaxFiles; ++i) {
        cache.put(std::to_string(i), "x");
        if (i == 20) ::usleep(20'000);  // those until here are older
    }
    EXPECT_EQ(cache.get("0"), "x");  // asked for: the newest now
    cache.put("more", "x");
    EXPECT_EQ(files().size(), FileCache::kMaxFiles);
    EXPECT_EQ(cache.get("0"), "x");
    EXPECT_EQ(cache.get("more"), "x");
    cache.put("big", std::string(FileCache::kMaxBytes / 2, 'x'));
    cache.put("big too", std::string(FileCache::kMaxBytes / 2, 'y'));
    EXPECT_EQ(cache.get("big"), std::nullopt);
    EXPECT_TRUE(cache.get("big too"));
    cache.put("too big", std::string(FileCache::kMaxBytes, 'x'));
    EXPECT_EQ(cache.get("too big"), std::nullopt);
}

}  // namespace
}  // namespace mlbcc
