#include "base/as_caller.h"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/create_file.h"

namespace mlbcc {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kCaller = 65534;

TEST(ExceededCaller, BySudoOrByTheProgram) {
    using Uid = std::optional<uid_t>;
    EXPECT_EQ(exceeded_caller(0, 0, false, ""), Uid());
    EXPECT_EQ(exceeded_caller(0, 0, false, "1000"), Uid(1000));
    EXPECT_EQ(exceeded_caller(0, 0, false, "0"), Uid());
    EXPECT_EQ(exceeded_caller(0, 0, false, "me"), Uid());
    EXPECT_EQ(exceeded_caller(1000, 1000, false, "1000"), Uid());  // sudo is over
    EXPECT_EQ(exceeded_caller(1000, 0, true, ""), Uid(1000));
    EXPECT_EQ(exceeded_caller(1000, 1000, true, ""), Uid(1000));  // capabilities of the file
}

class CallersFiles : public testing::Test {
protected:
    CallersFiles() : folder(fs::temp_directory_path() / fmt::format("mlbcc-caller-{}", getpid())) {
        fs::create_directories(folder);
        std::ofstream(folder / "secret") << "root's";
        fs::permissions(folder / "secret", fs::perms::owner_read | fs::perms::owner_write);
    }
    ~CallersFiles() override { fs::remove_all(folder); }
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "only root has more rights than its caller";
    }
    // In a process of its own, under sudo.
    static void under_sudo(const std::function<bool()>& holds) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::setenv("SUDO_UID", fmt::to_string(kCaller).c_str(), 1);
            ::setenv("SUDO_GID", fmt::to_string(kCaller).c_str(), 1);
            ::_exit(holds() ? 0 : 1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    static bool opens(const std::string& path) {
        return static_cast<bool>(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)));
    }
    static int errno_of_creating(const std::string& path) {
        errno = 0;
        return create_file(path, 0644) ? 0 : errno;
    }

    const fs::path folder;
};

TEST_F(CallersFiles, AreThoseThatTheCallerMayRead) {
    const std::string secret = folder / "secret";
    under_sudo([&] {
        bool reads = false;
        {
            const auto as_caller = AsCaller::begin();
            const auto again = AsCaller::begin();
            reads = !as_caller || !again || opens(secret);
        }
        return !reads && opens(secret) && ::setfsuid(static_cast<uid_t>(-1)) == 0;
    });
    const auto as_caller = AsCaller::begin();
    EXPECT_TRUE(as_caller && opens(secret)) << "nobody called";
}

TEST_F(CallersFiles, AreMadeAsTheCallersOwn) {
    const fs::path own = folder / "own";
    fs::create_directory(own);
    ASSERT_EQ(::chown(own.c_str(), kCaller, kCaller), 0);
    const auto is_callers = [](const fs::path& path) {
        struct stat status {};
        return ::stat(path.c_str(), &status) == 0 && status.st_uid == kCaller;
    };
    under_sudo([&] {
        return errno_of_creating(own / "made") == 0 && is_callers(own / "made") &&
               errno_of_creating(folder / "made") == EACCES &&
               errno_of_creating(folder / "secret") == EACCES && stay_as_caller() &&
               errno_of_creating(own / "late") == 0 && is_callers(own / "late");
    });
}

// A folder that is everybody's: what stands there already may be a trap.
TEST_F(CallersFiles, AreNotMadeThroughWhatOthersPutThere) {
    const fs::path shared = folder / "shared";
    fs::create_directory(shared);
    fs::permissions(shared, fs::perms::all);
    const auto put = [&](const char* name, const std::function<int(const char*)>& make) {
        const fs::path path = shared / name;
        EXPECT_EQ(make(path.c_str()), 0);
        EXPECT_EQ(::lchown(path.c_str(), 4711, 4711), 0);
        return path.string();
    };
    const std::string secret = folder / "secret";
    EXPECT_EQ(errno_of_creating(
                  put("link", [&](const char* path) { return ::symlink(secret.c_str(), path); })),
              ELOOP);
    EXPECT_EQ(errno_of_creating(
                  put("dangling",
                      [&](const char* path) { return ::symlink((folder / "new").c_str(), path); })),
              ELOOP);
    EXPECT_EQ(errno_of_creating(put("pipe", [](const char* path) { return ::mkfifo(path, 0666); })),
              EPERM);
    fs::create_hard_link(secret, shared / "hard");
    EXPECT_EQ(errno_of_creating(shared / "hard"), EPERM);
    EXPECT_EQ(errno_of_creating(shared / "new"), 0);
    EXPECT_EQ(errno_of_creating(shared / "new"), 0) << "a file that is there is emptied";
    EXPECT_EQ(fs::file_size(secret), 6u);
    EXPECT_FALSE(fs::exists(folder / "new"));
    fs::create_symlink("secret", folder / "own-link");
    EXPECT_EQ(errno_of_creating(folder / "own-link"), 0) << "a link in a folder of one's own";
    EXPECT_EQ(fs::file_size(secret), 0u);
}

}  // namespace
}  // namespace mlbcc
