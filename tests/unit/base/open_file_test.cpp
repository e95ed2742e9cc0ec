#include "base/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/read_file.h"

namespace mlbcc {
namespace {

namespace fs = std::filesystem;

class OpenFile : public testing::Test {
protected:
    OpenFile() : folder(fs::temp_directory_path() / fmt::format("mlbcc-open-{}", getpid())) {
        fs::create_directories(folder / "root/lib");
        std::ofstream(folder / "root/lib/own") << "own";
        std::ofstream(folder / "host") << "host";
    }
    ~OpenFile() override { fs::remove_all(folder); }

    std::string below(const std::string& path, Links links = Links::follow) const {
        const UniqueFd root(::open((folder / "root").c_str(), O_PATH | O_CLOEXEC));
        const Result<UniqueFd> file = open_file_below(root.get(), path, links);
        if (!file) return file.error().message();
        return *read_file(file->get(), path, 100);
    }
    void link(const fs::path& target, const char* name) const {
        fs::remove(folder / "root/lib" / name);
        fs::create_symlink(target, folder / "root/lib" / name);
    }

    const fs::path folder;
};

TEST_F(OpenFile, LinksLeadNowhereButBelowTheRoot) {
    EXPECT_EQ(below("/lib/own"), "own");
    EXPECT_EQ(below("/lib/../lib/own"), "own");
    EXPECT_EQ(below("/../../lib/own"), "own");
    link("/lib/own", "absolute");
    EXPECT_EQ(below("/lib/absolute"), "own");
    link("own", "relative");
    EXPECT_EQ(below("/lib/relative"), "own");
    EXPECT_EQ(below("/lib/relative", Links::refuse), "/lib/relative is not a regular file");
    EXPECT_EQ(below("/lib/own", Links::refuse), "own");
    const std::string no = ": No such file or directory";
    link(folder / "host", "out");
    EXPECT_EQ(below("/lib/out"), "cannot open /lib/out" + no);
    link("../../host", "dots");
    EXPECT_EQ(below("/lib/dots"), "cannot open /lib/dots" + no);
    link("round", "round");
    EXPECT_EQ(below("/lib/round"), "cannot open /lib/round: Too many levels of symbolic links");
    EXPECT_EQ(below("/lib"), "/lib is a directory");
}

TEST_F(OpenFile, OfAProcessItIsWhatThatSees) {
    const std::string own = fmt::format("/proc/{}/root{}", getpid(), (folder / "host").string());
    const Result<UniqueFd> file = open_file(own);
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_EQ(*read_file(file->get(), own, 100), "host");
    const Result<UniqueFd> magic = open_file(fmt::format("/proc/{0}/root/proc/{0}/exe", getpid()));
    ASSERT_FALSE(magic);
    EXPECT_EQ(magic.error().code, ELOOP) << "a link of /proc leads anywhere";
}

// To open them might wait for ever, or set something off.
TEST_F(OpenFile, PipesAndDevicesAreNotOpened) {
    const std::string pipe = folder / "root/lib/pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0666), 0);
    EXPECT_EQ(below("/lib/pipe"), "/lib/pipe is not a regular file");
    EXPECT_EQ(open_file(pipe).error().message(), pipe + " is not a regular file");
    EXPECT_EQ(open_file("/dev/null").error().message(), "/dev/null is not a regular file");
    const UniqueFd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    const UniqueFd writer(::open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    EXPECT_TRUE(writer) << "nobody else reads";
}

// Who holds a lease is told before another opens the file, and that one waits for up to 45 s.
TEST_F(OpenFile, AFileUnderALeaseIsNotWaitedFor) {
    const std::string path = folder / "host";
    const UniqueFd held(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    ::signal(SIGIO, SIG_IGN);
    if (::fcntl(held.get(), F_SETLEASE, F_WRLCK) != 0) GTEST_SKIP() << "no leases here";
    const Result<UniqueFd> file = open_file(path);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, EWOULDBLOCK);
}

// The kernel follows links as ours where it is given a path below another's root.
TEST_F(OpenFile, AHeldPathLeadsWhereItDid) {
    const std::string root = fmt::format("/proc/{}/root", getpid());
    const std::string path = folder / "root/lib/moved";
    std::ofstream(path) << "first";
    const HeldPath held(root + path), gone(root + "/no/such"), own("/no/such");
    link(folder / "host", "moved");
    const UniqueFd file(::open(held.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(file);
    EXPECT_EQ(*read_file(file.get(), path, 100), "first");
    EXPECT_EQ(::open(gone.c_str(), O_RDONLY), -1);
    EXPECT_STREQ(own.c_str(), "/no/such");
}

TEST_F(OpenFile, ADescriptorIsThatOneOnceMore) {
    const UniqueFd first(::open((folder / "host").c_str(), O_RDONLY | O_CLOEXEC));
    const Result<UniqueFd> again = open_file(fmt::format("/proc/self/fd/{}", first.get()));
    ASSERT_TRUE(again);
    ASSERT_EQ(::lseek(first.get(), 2, SEEK_SET), 2);
    EXPECT_EQ(::lseek(again->get(), 0, SEEK_CUR), 2);
    EXPECT_FALSE(open_file("/proc/self/fd/9999"));
}

}  // namespace
}  // namespace mlbcc
