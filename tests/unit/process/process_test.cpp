#include "process/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <chrono>
#include <thread>

#include "files/scratch.h"
#include "process/proc.h"

namespace mlbcc::process {
namespace {

using testing::Contains;
using testing::HasSubstr;

LaunchOptions shell(const std::string& script) {
    LaunchOptions options;
    options.argv = {"/bin/sh", "-c", script};
    return options;
}

// The exit status of a command from start to end.
int run(const LaunchOptions& options) {
    auto child = ChildProcess::start(options);
    EXPECT_TRUE(child) << child.error().message();
    if (!child) return -1;
    const auto released = child->release();
    EXPECT_TRUE(released) << released.error().message();
    return exit_status(child->wait());
}

std::string start_error(const LaunchOptions& options) {
    const auto child = ChildProcess::start(options);
    return child ? "started" : child.error().message();
}

bool becomes(const std::function<bool()>& condition) {
    for (int i = 0; i < 500; i++) {
        if (condition()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

TEST(ChildProcess, RunsOnlyWhenItIsReleased) {
    const files::Scratch scratch;
    auto child = ChildProcess::start(shell("echo ran > " + scratch.path("out") + "; exit 3"));
    ASSERT_TRUE(child);
    EXPECT_TRUE(is_alive(child->pid()));
    EXPECT_EQ(parent_of(child->pid()), getpid());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(scratch.read("out"), "");
    EXPECT_EQ(child->try_wait(), std::nullopt);
    ASSERT_TRUE(child->release());
    EXPECT_EQ(exit_status(child->wait()), 3);
    EXPECT_EQ(scratch.read("out"), "ran\n");
    EXPECT_EQ(child->try_wait(), 3 << 8) << "again";
    EXPECT_TRUE(child->release()) << "again";
}

TEST(ChildProcess, RunsInTheProcessThatWasStarted) {
    const files::Scratch scratch;
    auto child = ChildProcess::start(shell("echo $$ $PPID > " + scratch.path("out")));
    ASSERT_TRUE(child);
    const std::string expected = std::to_string(child->pid()) + " " + std::to_string(getpid());
    ASSERT_TRUE(child->release());
    EXPECT_EQ(exit_status(child->wait()), 0);
    EXPECT_EQ(scratch.read("out"), expected + "\n");
}

TEST(ChildProcess, ItsPidfdTellsTheEnd) {
    auto child = ChildProcess::start(shell("exit 0"));
    ASSERT_TRUE(child);
    pollfd ended{child->pidfd(), POLLIN, 0};
    EXPECT_EQ(poll(&ended, 1, 0), 0);
    ASSERT_TRUE(child->release());
    EXPECT_EQ(poll(&ended, 1, 10000), 1);
    EXPECT_EQ(child->try_wait(), 0);
}

TEST(ChildProcess, PassesExitStatusAndSignalsOn) {
    EXPECT_EQ(run(shell("exit 0")), 0);
    EXPECT_EQ(run(shell("exit 255")), 255);
    EXPECT_EQ(run(shell("kill -TERM $$")), 128 + SIGTERM);
    EXPECT_EQ(run(shell("ulimit -c 0; kill -SEGV $$")), 128 + SIGSEGV);
}

TEST(ChildProcess, SaysWhyAProgramCannotRun) {
    const files::Scratch scratch;
    const auto failure = [](const std::string& program) {
        LaunchOptions options;
        options.argv = {program};
        auto child = ChildProcess::start(options);
        EXPECT_TRUE(child);
        const auto released = child->release();
        EXPECT_FALSE(released);
        EXPECT_EQ(exit_status(child->wait()), failed_exec_status(released.error().code));
        return std::to_string(exit_status(child->wait())) + ": " + released.error().message() +
               " / " + released.error().help;
    };
    EXPECT_EQ(failure("no-such-program"), "127: cannot run `no-such-program`: No such file or "
                                          "directory / it was not found in PATH: give its path");
    EXPECT_EQ(failure("/none/such"), "127: cannot run `/none/such`: No such file or directory / ");
    const std::string data = scratch.write("data", "hello");
    EXPECT_EQ(failure(data), "126: cannot run `" + data +
                                 "`: Permission denied / make the file executable, or give the "
                                 "program that runs it");
    const std::string script = scratch.write("script", "#!/none/such\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    EXPECT_EQ(failure(script), "127: cannot run `" + script +
                                   "`: No such file or directory / the interpreter that the file "
                                   "asks for is missing: see its first line");
}

// Sets PATH for as long as it lives.
class WithPath {
public:
    explicit WithPath(const std::string& path) : before_(getenv("PATH")) {
        setenv("PATH", path.c_str(), 1);
    }
    ~WithPath() { setenv("PATH", before_.c_str(), 1); }
    WithPath(const WithPath&) = delete;
    WithPath& operator=(const WithPath&) = delete;

private:
    std::string before_;
};

TEST(ChildProcess, LooksForTheProgramInPath) {
    const files::Scratch scratch;
    std::filesystem::permissions(scratch.write("a/tool", "not executable"),
                                 std::filesystem::perms::owner_read);
    std::filesystem::permissions(scratch.write("b/tool", "exit $1"),
                                 std::filesystem::perms::owner_all);
    const WithPath path("/none:" + scratch.path("a") + ":" + scratch.path("b/tool") + ":" +
                        scratch.path("b"));
    LaunchOptions options;
    options.argv = {"tool", "5"};
    EXPECT_EQ(run(options), 5) << "a script without #!, as execvp() runs it";
    const WithPath without("/none:" + scratch.path("a"));
    auto child = ChildProcess::start(options);
    ASSERT_TRUE(child);
    EXPECT_EQ(child->release().error().message(), "cannot run `tool`: Permission denied");
    EXPECT_EQ(exit_status(child->wait()), 126);
}

TEST(ChildProcess, AFolderOfPathThatTheUserMayNotReadHasNoProgram) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    const files::Scratch scratch;
    scratch.write("secret/x", "");
    std::filesystem::permissions(scratch.path(), std::filesystem::perms::owner_all);
    const WithPath path(scratch.path("secret") + ":/usr/bin:/bin");
    LaunchOptions options;
    options.user = "nobody";
    options.argv = {"no-such-program"};
    auto child = ChildProcess::start(options);
    ASSERT_TRUE(child);
    EXPECT_EQ(child->release().error().message(),
              "cannot run `no-such-program`: No such file or directory");
    EXPECT_EQ(exit_status(child->wait()), 127);
    options.argv = {"true"};
    EXPECT_EQ(run(options), 0);
}

TEST(ChildProcess, SaysWhyItCannotStart) {
    EXPECT_EQ(start_error({}), "there is no command to run");
    LaunchOptions folder = shell("true");
    folder.working_directory = "/none/such";
    EXPECT_EQ(start_error(folder),
              "cannot change to the folder /none/such: No such file or directory");
    LaunchOptions user = shell("true");
    user.user = "no-such-user";
    EXPECT_EQ(start_error(user), "there is no user `no-such-user`");
}

TEST(ChildProcess, HasTheCallersEnvironmentAndStreams) {
    const files::Scratch scratch;
    ASSERT_EQ(setenv("MLBCC_TEST_VARIABLE", "a b", 1), 0);
    LaunchOptions options =
        shell("echo \"$MLBCC_TEST_VARIABLE\" > out; ls -l /proc/self/fd >> out");
    options.working_directory = scratch.path();
    EXPECT_EQ(run(options), 0);
    unsetenv("MLBCC_TEST_VARIABLE");
    const std::string out = scratch.read("out");
    EXPECT_THAT(out, HasSubstr("a b\n"));
    EXPECT_THAT(out, testing::Not(HasSubstr("socket:"))) << "a socket of the tracer's is left";
}

TEST(ChildProcess, SignalsAreAsTheCallerOfTheToolHasThem) {
    const files::Scratch scratch;
    const std::string script = "grep Sig /proc/self/status > " + scratch.path("out");
    const auto line = [&](const std::string& name) {
        const std::string out = scratch.read("out");
        const size_t at = out.find(name + ":\t") + name.size() + 2;
        return std::stoull(out.substr(at, 16), nullptr, 16);
    };
    const auto bit = [](int number) { return 1ull << (number - 1); };
    struct sigaction before[3];
    struct sigaction ignore {
    }, handle{};
    ignore.sa_handler = SIG_IGN;
    handle.sa_handler = [](int) {};
    sigaction(SIGPIPE, &ignore, &before[0]);
    sigaction(SIGHUP, &ignore, &before[1]);
    sigaction(SIGINT, &handle, &before[2]);
    sigset_t blocked, mask;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, &mask);
    EXPECT_EQ(run(shell(script)), 0);
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    sigaction(SIGPIPE, &before[0], nullptr);
    sigaction(SIGHUP, &before[1], nullptr);
    sigaction(SIGINT, &before[2], nullptr);
    EXPECT_EQ(line("SigBlk"), 0u);
    EXPECT_EQ(line("SigIgn") & bit(SIGPIPE), 0u);
    EXPECT_EQ(line("SigIgn") & bit(SIGHUP), bit(SIGHUP)) << "nohup";
    EXPECT_EQ(line("SigCgt") & bit(SIGINT), 0u);
}

TEST(ChildProcess, IsEndedIfItIsNeverReleased) {
    pid_t pid = 0;
    {
        auto child = ChildProcess::start(shell("sleep 100"));
        ASSERT_TRUE(child);
        pid = child->pid();
        ChildProcess moved = std::move(child).value();
        EXPECT_EQ(moved.pid(), pid);
        EXPECT_TRUE(is_alive(pid));
    }
    EXPECT_EQ(kill(pid, 0), -1) << "it is waited for as well";
}

TEST(ChildProcess, GoesOnWithoutTheTracerOnceItIsReleased) {
    pid_t pid = 0;
    {
        auto child = ChildProcess::start(shell("sleep 100"));
        ASSERT_TRUE(child);
        pid = child->pid();
        ASSERT_TRUE(child->release());
    }
    EXPECT_TRUE(is_alive(pid));
    kill(pid, SIGKILL);
    EXPECT_EQ(waitpid(pid, nullptr, 0), pid);
}

// A tracer is killed: what waits for it must end, what runs must go on.
TEST(ChildProcess, OutlivesAKilledTracerOnlyOnceItIsReleased) {
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    for (const bool is_released : {false, true}) {
        int pids[2];
        ASSERT_EQ(pipe(pids), 0);
        const pid_t tracer = fork();
        if (tracer == 0) {
            auto child = ChildProcess::start(shell("exec sleep 100"));
            if (!child || (is_released && !child->release())) _exit(1);
            const pid_t pid = child->pid();
            if (write(pids[1], &pid, sizeof pid) < 0) _exit(1);
            while (true) pause();
        }
        pid_t command = 0;
        ASSERT_EQ(read(pids[0], &command, sizeof command), static_cast<ssize_t>(sizeof command));
        kill(tracer, SIGKILL);
        waitpid(tracer, nullptr, 0);
        if (is_released) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            EXPECT_TRUE(is_alive(command));
            kill(command, SIGKILL);
        } else {
            EXPECT_TRUE(becomes([&] { return !is_alive(command); }));
        }
        waitpid(command, nullptr, 0);
        close(pids[0]);
        close(pids[1]);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(ChildProcess, ASignalWhileItWaitsIsItsEnd) {
    auto child = ChildProcess::start(shell("exit 0"));
    ASSERT_TRUE(child);
    kill(child->pid(), SIGINT);
    ASSERT_TRUE(becomes([&] { return !is_alive(child->pid()); }));
    EXPECT_TRUE(child->release()) << "and no SIGPIPE here";
    EXPECT_EQ(exit_status(child->wait()), 128 + SIGINT);
}

TEST(ChildProcess, RunsAsAnotherUser) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    const files::Scratch scratch;
    std::filesystem::permissions(scratch.path(), std::filesystem::perms::all);
    LaunchOptions options = shell("{ id -un; id -G; echo $HOME $USER $LOGNAME; grep CapEff "
                                  "/proc/self/status; } > out");
    options.working_directory = scratch.path();
    options.user = "nobody";
    EXPECT_EQ(run(options), 0);
    EXPECT_EQ(scratch.read("out"), "nobody\n65534\n/nonexistent nobody nobody\n"
                                   "CapEff:\t0000000000000000\n");
    const auto environment = launch_environment(options);
    ASSERT_TRUE(environment);
    EXPECT_THAT(*environment, Contains("HOME=/nonexistent"));
}

TEST(ChildProcess, RunsAsWhoCalledSudo) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    const files::Scratch scratch;
    std::filesystem::permissions(scratch.path(), std::filesystem::perms::all);
    setenv("SUDO_UID", "65534", 1);
    setenv("SUDO_GID", "65534", 1);
    LaunchOptions options = shell("id -u >> out");
    options.working_directory = scratch.path();
    EXPECT_EQ(run(options), 0);
    std::filesystem::permissions(scratch.path("out"), std::filesystem::perms::all);
    options.keep_root = true;
    EXPECT_EQ(run(options), 0);
    unsetenv("SUDO_UID");
    unsetenv("SUDO_GID");
    EXPECT_EQ(scratch.read("out"), "65534\n0\n");
}

TEST(ExitStatus, IsWhatAShellMakesOfIt) {
    EXPECT_EQ(exit_status(0), 0);
    EXPECT_EQ(exit_status(42 << 8), 42);
    EXPECT_EQ(exit_status(SIGKILL), 137);
    EXPECT_EQ(exit_status(SIGSEGV | 0x80), 139) << "with a core dump";
    EXPECT_EQ(failed_exec_status(ENOENT), 127);
    EXPECT_EQ(failed_exec_status(EACCES), 126);
}

}  // namespace
}  // namespace mlbcc::process
