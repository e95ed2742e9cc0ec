#include "host/open_guard.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "files/scratch.h"

namespace mlbcc::host {
namespace {

constexpr const char* kElf = "\177ELF and so on";
constexpr std::chrono::seconds kPatience{20};

class Guarded : public testing::Test {
protected:
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "not root: fanotify needs CAP_SYS_ADMIN";
        start(kPatience);
    }
    void start(std::chrono::milliseconds patience) {
        auto started = OpenGuard::start(patience);
        ASSERT_TRUE(started) << started.error().message();
        guard.emplace(std::move(*started));
    }
    // A process that opens `path` and says so: the pipe is readable when it has.
    void open_in_child(const std::string& path) {
        ASSERT_EQ(pipe(opened.data()), 0);
        child = fork();
        if (child == 0) {
            const int file = open(path.c_str(), O_RDONLY);
            _exit(write(opened[1], file >= 0 ? "y" : "n", 1) == 1 ? 0 : 1);
        }
        close(opened[1]);
    }
    char has_opened() const {
        char result = '?';
        EXPECT_EQ(read(opened[0], &result, 1), 1);
        close(opened[0]);
        EXPECT_EQ(waitpid(child, nullptr, 0), child);
        return result;
    }
    std::optional<HeldOpen> held() {
        pollfd waiting{guard->fd(), POLLIN, 0};
        EXPECT_EQ(::poll(&waiting, 1, 60'000), 1);
        return guard->next();
    }

    files::Scratch scratch;
    std::optional<OpenGuard> guard;
    std::array<int, 2> opened{};
    pid_t child = -1;
};

bool is_called(std::string_view wanted, const std::string& path, const std::string& soname = {}) {
    return is_called(wanted, SeenFile{{}, path, soname});
}

TEST(IsCalled, ByItsOwnName) {
    EXPECT_TRUE(is_called("libx.so.1", "/opt/a/libx.so.1"));
    EXPECT_TRUE(is_called("libx.so*", "/opt/a/libx.so.1"));
    EXPECT_TRUE(is_called("program", "/opt/a/program"));
    EXPECT_FALSE(is_called("libx.so.1", "/opt/libx.so.1/liby.so.1"));
    EXPECT_FALSE(is_called("libx.so", "/opt/a/xlibx.so"));
}

TEST(IsCalled, ByALongerVersion) {
    EXPECT_TRUE(is_called("libx.so", "/opt/libx.so.1.2.3"));
    EXPECT_TRUE(is_called("libx.so.1", "/opt/libx.so.1.2.3"));
    EXPECT_FALSE(is_called("libx.so.1", "/opt/libx.so.12"));
    EXPECT_FALSE(is_called("libx.so.1", "/opt/libx.so"));
    EXPECT_FALSE(is_called("libx.so", "/opt/libx.so.debug"));
    EXPECT_FALSE(is_called("program", "/opt/program.1"));
}

TEST(IsCalled, ByItsSoname) {
    EXPECT_TRUE(is_called("libx.so.1", "/opt/x-1f2e.so", "libx.so.1"));
    EXPECT_TRUE(is_called("libx.so", "/opt/x-1f2e.so", "libx.so.1"));
    EXPECT_FALSE(is_called("*.txt", "/opt/x-1f2e.so"));
    EXPECT_FALSE(is_called("liby.so.1", "/opt/x-1f2e.so", "libx.so.1"));
}

TEST(SeenFile, HasItsNames) {
    const files::Scratch scratch;
    const std::string path = scratch.compile("x-1f2e.so", "int f(void) { return 1; }",
                                             "-shared -fPIC -Wl,-soname,libx.so.1");
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    unlink(path.c_str());
    const auto seen = seen_file(file.get());
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->path, path);
    EXPECT_EQ(seen->soname, "libx.so.1");
    const UniqueFd text(open(scratch.write("text", "ELF").c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_FALSE(seen_file(text.get()));
    EXPECT_FALSE(seen_file(-1));
}

TEST_F(Guarded, WhoOpensAnAwaitedFileWaits) {
    scratch.write("lib/other.so", kElf);
    ASSERT_TRUE(guard->watch({"", scratch.path("lib/libx.so")}));
    const std::string path = scratch.write("lib/libx.so", kElf);
    open_in_child(scratch.path("lib/other.so"));
    EXPECT_EQ(has_opened(), 'y');
    open_in_child(path);
    auto waiting = held();
    ASSERT_TRUE(waiting);
    EXPECT_EQ(waiting->pid, child);
    pollfd result{opened[0], POLLIN, 0};
    EXPECT_EQ(::poll(&result, 1, 50), 0) << "it does not wait";
    std::array<char, 4> bytes;
    EXPECT_EQ(pread(waiting->file.get(), bytes.data(), 4, 0), 4);
    guard->release(*waiting);
    EXPECT_EQ(has_opened(), 'y');
}

TEST_F(Guarded, NobodyWaitsForLongerThanThat) {
    guard.reset();
    start(std::chrono::milliseconds(100));
    ASSERT_TRUE(guard->watch({"", scratch.path("lib/libx.so")}));
    const std::string path = scratch.write("lib/libx.so", kElf);
    open_in_child(path);
    auto waiting = held();
    ASSERT_TRUE(waiting);
    pollfd result{opened[0], POLLIN, 0};
    EXPECT_EQ(::poll(&result, 1, 0), 0) << "it does not wait";
    EXPECT_EQ(has_opened(), 'y') << "nobody released it";
}

TEST_F(Guarded, AFolderThatIsMadeLater) {
    ASSERT_TRUE(guard->watch({"", scratch.path("venv/lib/*/libx.so*")}));
    const std::string path = scratch.write("venv/lib/python3/libx.so.1", kElf);
    open_in_child(path);
    auto waiting = held();
    ASSERT_TRUE(waiting);
    guard->pass(*files::file_id(path));
    guard->release(*waiting);
    EXPECT_EQ(has_opened(), 'y');
    open_in_child(path);  // is known now
    EXPECT_EQ(has_opened(), 'y');
    EXPECT_FALSE(guard->next());
}

// The first file is there before its file system is watched, the others are not.
TEST_F(Guarded, ANameInAnyFolder) {
    const std::string first = scratch.write("a/libx.so.1", kElf);
    const auto file_systems = guard->watch({"", "libx.so*"});
    ASSERT_TRUE(file_systems) << file_systems.error().message();
    EXPECT_GE(*file_systems, 1);
    const std::string second = scratch.write("b/c/libx.so.2", kElf);
    open_in_child(scratch.write("b/c/liby.so.2", kElf));
    EXPECT_EQ(has_opened(), 'y');
    for (const std::string& path : {first, second}) {
        open_in_child(path);
        auto waiting = held();
        ASSERT_TRUE(waiting);
        EXPECT_EQ(waiting->pid, child);
        EXPECT_EQ(seen_file(waiting->file.get())->path, path);
        guard->release(*waiting);
        EXPECT_EQ(has_opened(), 'y');
    }
}

TEST_F(Guarded, TheTracerItselfDoesNotWait) {
    const std::string path = scratch.write("lib/libx.so", kElf);
    ASSERT_TRUE(guard->watch({"", path}));
    EXPECT_EQ(scratch.read("lib/libx.so"), kElf);
    EXPECT_FALSE(guard->next());
}

TEST_F(Guarded, WhatIsNoElfFileIsNotHeld) {
    ASSERT_TRUE(guard->watch({"", scratch.path("lib/libx.so")}));
    const std::string path = scratch.write("lib/libx.so", "text");
    open_in_child(path);
    EXPECT_EQ(has_opened(), 'y');
    EXPECT_FALSE(guard->next());
}

TEST_F(Guarded, IsNotWaitedForWithoutEnd) {
    guard.reset();
    auto stopped = OpenGuard::start(kPatience, std::chrono::seconds(1));
    ASSERT_TRUE(stopped);
    ::kill(stopped->pid(), SIGSTOP);
    const auto watched = stopped->watch({"", scratch.path("lib/libx.so")});
    ASSERT_FALSE(watched);
    EXPECT_EQ(watched.error().message(),
              "the process that waits for files to be opened does not answer");
    EXPECT_FALSE(stopped->is_alive());
}

TEST_F(Guarded, AtItsEndAllGoOn) {
    const std::string path = scratch.write("lib/libx.so", kElf);
    ASSERT_TRUE(guard->watch({"", path}));
    open_in_child(path);
    ASSERT_TRUE(held());
    const auto begin = std::chrono::steady_clock::now();
    guard.reset();
    EXPECT_EQ(has_opened(), 'y');
    EXPECT_LT(std::chrono::steady_clock::now() - begin, kPatience)
        << "only because its patience was over";
}

}  // namespace
}  // namespace mlbcc::host
