#include "base/read_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace mlbcc {
namespace {

class ReadFile : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "mlbcc-read-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string write(const std::string& name, const std::string& text) {
        std::ofstream(folder_ + "/" + name) << text;
        return folder_ + "/" + name;
    }
    std::string message(const std::string& path, size_t limit = 100) {
        auto text = read_file(path, limit);
        return text.ok() ? "no error" : text.error().message();
    }
    std::string folder_;
};

TEST_F(ReadFile, TheWholeText) {
    auto text = read_file(write("a", std::string("one\0two", 7)), 100);
    ASSERT_TRUE(text.ok());
    EXPECT_EQ(*text, std::string("one\0two", 7));
    EXPECT_EQ(*read_file(write("empty", ""), 100), "");
}

TEST_F(ReadFile, TheLimitItselfIsAllowed) {
    EXPECT_EQ(read_file(write("a", std::string(100, 'x')), 100)->size(), 100u);
    EXPECT_EQ(message(write("b", std::string(101, 'x'))),
              folder_ + "/b is too large: 101 bytes, the limit is 100");
}

TEST_F(ReadFile, ManyChunks) {
    std::string large(300'000, 'x');
    EXPECT_EQ(*read_file(write("a", large), 1 << 20), large);
}

TEST_F(ReadFile, Failures) {
    EXPECT_EQ(message(folder_ + "/missing"),
              "cannot open " + folder_ + "/missing: No such file or directory");
    EXPECT_EQ(message(folder_), folder_ + " is a directory, not a file");
    std::string file = write("a", "x");
    EXPECT_EQ(message(file + "/b"), "cannot open " + file + "/b: Not a directory");
}

TEST_F(ReadFile, APipeIsReadToItsEnd) {
    std::string pipe = folder_ + "/pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(pipe) << "through"; });
    auto text = read_file(pipe, 100);
    writer.join();
    ASSERT_TRUE(text.ok());
    EXPECT_EQ(*text, "through");
}

TEST_F(ReadFile, AnEndlessFileHasALimit) {
    EXPECT_EQ(message("/dev/zero"),
              "/dev/zero is too large: more than 100 bytes, the limit is 100");
}

}  // namespace
}  // namespace mlbcc
