#include "process/proc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>

#include "files/scratch.h"
#include "process/waiting.h"

namespace mlbcc::process {
namespace {

using testing::Contains;
using testing::ElementsAre;

TEST(ReadMaps, HasTheCodeOfThisTest) {
    const auto maps = read_maps(getpid());
    ASSERT_TRUE(maps);
    const auto here = reinterpret_cast<uint64_t>(&files::in_child);
    const auto* found = &maps->front();
    for (const Mapping& each : *maps) {
        if (each.start <= here && here < each.end) found = &each;
    }
    EXPECT_TRUE(found->executable);
    EXPECT_EQ(found->path, std::filesystem::read_symlink("/proc/self/exe"));
}

TEST(ReadMaps, SaysThatAProcessIsNotThere) {
    const auto maps = read_maps(0x3fffffff);
    ASSERT_FALSE(maps);
    EXPECT_EQ(maps.error().code, ENOENT);
}

TEST(Threads, AreListedAndKnowTheirProcess) {
    std::mutex mutex;
    std::condition_variable changed;
    int tid = 0;
    bool done = false;
    std::thread thread([&] {
        std::unique_lock lock(mutex);
        tid = static_cast<int>(syscall(SYS_gettid));
        changed.notify_all();
        changed.wait(lock, [&] { return done; });
    });
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return tid != 0; });
        const auto threads = threads_of(getpid());
        ASSERT_TRUE(threads);
        EXPECT_THAT(*threads, Contains(getpid()));
        EXPECT_THAT(*threads, Contains(tid));
        EXPECT_EQ(process_of(tid), getpid());
        done = true;
    }
    changed.notify_all();
    thread.join();
    EXPECT_EQ(process_of(getpid()), getpid());
    EXPECT_EQ(process_of(0x3fffffff), std::nullopt);
    EXPECT_FALSE(threads_of(0x3fffffff));
}

TEST(SleepingThreads, SayWhatTheyWaitFor) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    std::atomic<int> tid = 0;
    std::thread thread([&] {
        ::prctl(PR_SET_NAME, "a (b) c");
        tid = static_cast<int>(syscall(SYS_gettid));
        char byte = 0;
        EXPECT_EQ(::read(ends[0], &byte, 1), 1);
    });
    while (tid == 0 || !sleeping_thread(getpid(), tid)) ::usleep(1000);
    const auto found = sleeping_thread(getpid(), tid);
    EXPECT_FALSE(sleeping_thread(getpid(), getpid())) << "it runs";
    EXPECT_EQ(::write(ends[1], "x", 1), 1);
    thread.join();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->comm, "a (b) c");
    EXPECT_EQ(found->state, 'S');
    EXPECT_EQ(found->system_call, SYS_read);
    EXPECT_EQ(found->arguments[0], static_cast<uint64_t>(ends[0]));
    EXPECT_EQ(found->arguments[2], 1u);
    EXPECT_EQ(found->file, uint32_t{S_IFIFO});
    EXPECT_FALSE(sleeping_thread(getpid(), 0x3fffffff));
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(Descendants, AreChildrenAndTheirChildren) {
    int ids[2];
    ASSERT_EQ(pipe(ids), 0);
    const pid_t child = fork();
    if (child == 0) {
        const pid_t grandchild = fork();
        if (grandchild == 0) {
            while (true) pause();
        }
        if (write(ids[1], &grandchild, sizeof grandchild) < 0) _exit(1);
        while (true) pause();
    }
    pid_t grandchild = 0;
    ASSERT_EQ(read(ids[0], &grandchild, sizeof grandchild), static_cast<ssize_t>(sizeof(pid_t)));
    EXPECT_THAT(descendants_of(child), ElementsAre(grandchild));
    const auto ours = descendants_of(getpid());
    EXPECT_THAT(ours, Contains(child));
    EXPECT_THAT(ours, Contains(grandchild));
    EXPECT_EQ(parent_of(grandchild), child);
    kill(grandchild, SIGKILL);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ids[0]);
    close(ids[1]);
    EXPECT_THAT(descendants_of(0x3fffffff), ElementsAre());
}

TEST(Comm, IsTheNameWhateverCharactersItHas) {
    for (const char* name : {"python3", "a) R 1 (b", "two\nlines", " "}) {
        const Waiting process([&] { return prctl(PR_SET_NAME, name) == 0; });
        EXPECT_EQ(comm_of(process.pid()), name);
        EXPECT_EQ(parent_of(process.pid()), getpid()) << name;
        EXPECT_TRUE(is_alive(process.pid())) << name;
    }
    EXPECT_EQ(comm_of(0x3fffffff), std::nullopt);
    EXPECT_EQ(parent_of(0x3fffffff), std::nullopt);
}

char state_of(int pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(stat, text);
    const size_t at = text.rfind(") ");
    return at == std::string::npos ? '?' : text[at + 2];
}

TEST(IsAlive, AZombieIsNotAndAProcessWithoutItsFirstThreadIs) {
    const pid_t zombie = fork();
    if (zombie == 0) _exit(0);
    siginfo_t info;
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(zombie), &info, WEXITED | WNOWAIT), 0);
    EXPECT_FALSE(is_alive(zombie));
    waitpid(zombie, nullptr, 0);
    EXPECT_FALSE(is_alive(zombie));

    const pid_t headless = fork();
    if (headless == 0) {
        std::thread([] {
            while (true) pause();
        }).detach();
        syscall(SYS_exit, 0);  // of this thread alone
    }
    while (state_of(headless) != 'Z') sched_yield();
    EXPECT_TRUE(is_alive(headless));
    kill(headless, SIGKILL);
    waitpid(headless, nullptr, 0);
    EXPECT_FALSE(is_alive(headless));
}

TEST(PidNamespace, IsTheOneOfThisProcess) {
    const auto own = own_pid_namespace();
    ASSERT_TRUE(own);
    struct stat status;
    ASSERT_EQ(stat("/proc/self/ns/pid", &status), 0);
    EXPECT_EQ(own->device, status.st_dev);
    EXPECT_EQ(own->inode, status.st_ino);
    EXPECT_EQ(own->is_initial, status.st_ino == 0xEFFFFFFCu);
}

TEST(PidNamespace, OfAContainerIsNotTheInitialOne) {
    const int result = files::in_child([] {
        if (unshare(CLONE_NEWPID) != 0) return 77;
        return files::in_child([] {
            const auto own = own_pid_namespace();
            return own && !own->is_initial ? 0 : 1;
        });
    });
    if (result == 77) GTEST_SKIP() << "no permission to make a pid namespace";
    EXPECT_EQ(result, 0);
}

TEST(ClockOffset, IsWhatATimeNamespaceAdds) {
    EXPECT_EQ(clock_offset_ns("monotonic           0         0\nboottime            0         0\n"),
              0);
    EXPECT_EQ(clock_offset_ns("monotonic     1000000         7\nboottime     5         0\n"),
              1'000'000'000'000'007);
    EXPECT_EQ(clock_offset_ns("monotonic         -10 500000000\n"), -9'500'000'000);
    EXPECT_EQ(clock_offset_ns(""), 0);
    EXPECT_EQ(clock_offset_ns("monotonic"), 0);
}

TEST(CpuTime, IsThatOfAllThreads) {
    const uint64_t before = cpu_time_of(::getpid()).value_or(0);
    std::thread([] {
        timespec used{};
        while (used.tv_nsec < 30'000'000) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    }).join();
    const uint64_t after = cpu_time_of(::getpid()).value_or(0);
    EXPECT_GE(after, before + 30'000'000);
    EXPECT_FALSE(cpu_time_of(0x7ffffff0)) << "there is no such process";
}

TEST(CpuTime, HasThatOfChildrenThatWereWaitedFor) {
    const uint64_t before = cpu_time_of(::getpid()).value_or(0);
    const pid_t child = ::fork();
    if (child == 0) {
        timespec used{};
        while (used.tv_nsec < 50'000'000) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        ::_exit(0);
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    EXPECT_GE(cpu_time_of(::getpid()).value_or(0), before + 40'000'000) << "in ticks of 10 ms";
}

}  // namespace
}  // namespace mlbcc::process
