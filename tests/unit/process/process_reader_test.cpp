#include "process/process_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "files/scratch.h"

namespace mlbcc::process {
namespace {

uint64_t bit(std::string_view name) {
    for (uint32_t i = 0; i < target::kProcessFieldCount; ++i) {
        if (target::kProcessFields.at(i).name == name) return uint64_t{1} << i;
    }
    ADD_FAILURE() << name;
    return 0;
}
int64_t value(const ProcessState& state, std::string_view name) {
    return state.fields.at(static_cast<size_t>(__builtin_ctzll(bit(name))));
}

constexpr uint64_t kAll = (uint64_t{1} << target::kProcessFieldCount) - 1;
constexpr uint64_t kCounters = target::fields_from(target::ProcessSource::counters);

// A /proc with one process, 70, as proc(5) describes it.
class FakeProc {
public:
    FakeProc() {
        write_stat("S", "0");
        proc.write("70/status", "Name:\tx\nVmHWM:\t    2048 kB\nRssAnon:\t     100 kB\n"
                                "RssFile:\t      20 kB\nRssShmem:\t       3 kB\nVmSwap:\t 5 kB\n");
        proc.write("70/io", "rchar: 10\nwchar: 20\nsyscr: 1\nsyscw: 2\nread_bytes: 4096\n"
                            "write_bytes: 8192\ncancelled_write_bytes: 1\n");
        proc.write("70/fd/0", "");
        proc.write("70/fd/11", "");
        proc.write("70/task/70/status",
                   "voluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t1\n");
        proc.write("70/task/71/status",
                   "voluntary_ctxt_switches:\t30\nnonvoluntary_ctxt_switches:\t2\n");
    }
    void write_stat(const std::string& state, const std::string& flags,
                    const std::string& resident = "300") {
        std::string text = "70 (a (b) c) " + state + " 69 70 70 0 -1 " + flags +
                           " 500 0 6 0 150 25 0 0 20 0 4 0 123456 10000000 " + resident +
                           " "
                           "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0\n";
        proc.write("70/stat", text);
    }
    std::optional<ProcessState> read(uint64_t wanted) {
        return ProcessReader(proc.path()).read(70, wanted);
    }
    files::Scratch proc;
};

TEST(ProcessReader, ReadsEachSource) {
    FakeProc fake;
    auto state = fake.read(kAll & ~bit("cpu_time") & ~kCounters);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->comm, "a (b) c");
    EXPECT_EQ(state->parent, 69u);
    EXPECT_EQ(state->cpu, 3u);
    EXPECT_EQ(state->started, 123456u);
    EXPECT_EQ(state->unread, 0u);
    const int64_t tick = 1'000'000'000 / sysconf(_SC_CLK_TCK);
    EXPECT_EQ(value(*state, "resident"), 300 * sysconf(_SC_PAGESIZE));
    EXPECT_EQ(value(*state, "virtual"), 10000000);
    EXPECT_EQ(value(*state, "threads"), 4);
    EXPECT_EQ(value(*state, "user_time"), 150 * tick);
    EXPECT_EQ(value(*state, "system_time"), 25 * tick);
    EXPECT_EQ(value(*state, "minor_faults"), 500);
    EXPECT_EQ(value(*state, "major_faults"), 6);
    EXPECT_EQ(value(*state, "peak_resident"), 2048 * 1024);
    EXPECT_EQ(value(*state, "anonymous"), 100 * 1024);
    EXPECT_EQ(value(*state, "file_mapped"), 20 * 1024);
    EXPECT_EQ(value(*state, "shared"), 3 * 1024);
    EXPECT_EQ(value(*state, "swap"), 5 * 1024);
    EXPECT_EQ(value(*state, "read_chars"), 10);
    EXPECT_EQ(value(*state, "written_chars"), 20);
    EXPECT_EQ(value(*state, "read_bytes"), 4096);
    EXPECT_EQ(value(*state, "written_bytes"), 8192);
    EXPECT_EQ(value(*state, "open_files"), 2);
    EXPECT_EQ(value(*state, "voluntary_switches"), 37) << "of all its threads";
    EXPECT_EQ(value(*state, "involuntary_switches"), 3);
}

TEST(ProcessReader, ReadsOnlyWhatIsAskedFor) {
    FakeProc fake;
    auto state = fake.read(bit("threads"));
    ASSERT_TRUE(state);
    EXPECT_EQ(value(*state, "threads"), 4);
    EXPECT_EQ(value(*state, "resident"), 0);
    EXPECT_EQ(value(*state, "open_files"), 0);
}

TEST(ProcessReader, WhatCannotBeReadIsSaid) {
    FakeProc fake;
    fake.proc.write("70/status", "VmHWM:\t 2048 kB\n");
    std::filesystem::remove(fake.proc.path("70/io"));
    std::filesystem::remove_all(fake.proc.path("70/fd"));
    std::filesystem::remove_all(fake.proc.path("70/task"));
    auto state = fake.read(bit("peak_resident") | bit("swap") | bit("read_bytes") |
                           bit("open_files") | bit("voluntary_switches"));
    ASSERT_TRUE(state);
    EXPECT_EQ(state->unread,
              bit("swap") | bit("read_bytes") | bit("open_files") | bit("voluntary_switches"));
    EXPECT_EQ(value(*state, "peak_resident"), 2048 * 1024);
}

TEST(ProcessReader, AProgramThatHasJustBegunMayHaveNoNumberYet) {
    FakeProc fake;
    fake.write_stat("R", "0", "0");
    auto state = fake.read(bit("resident") | bit("threads"));
    ASSERT_TRUE(state);
    EXPECT_EQ(state->unread, bit("resident"));
}

TEST(ProcessReader, ThereIsNothingOfProcessesThatEndedAndOfTheKernels) {
    FakeProc fake;
    EXPECT_FALSE(ProcessReader(fake.proc.path()).read(71, kAll));
    fake.write_stat("Z", "0");
    EXPECT_FALSE(fake.read(kAll));
    fake.write_stat("S", "2097152");
    EXPECT_FALSE(fake.read(kAll));
    fake.write_stat("R", "4194308");
    EXPECT_FALSE(fake.read(kAll)) << "it is ending";
    fake.proc.write("70/stat", "70 (cut");
    EXPECT_FALSE(fake.read(kAll));
}

// Of a process whose first thread has ended, that of one which goes on says what it has.
TEST(ProcessReader, AProcessGoesOnWithoutItsFirstThread) {
    FakeProc fake;
    fake.write_stat("Z", "4");
    fake.proc.write("70/task/70/stat", "70 (a (b) c) Z 69");
    fake.proc.write("70/task/71/stat", "71 (worker) S 69");
    fake.proc.write("71/stat", "71 (worker) S 69 70 70 0 -1 0 500 0 6 0 150 25 0 0 20 0 4 0 123999 "
                               "10000000 300 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 2 0 0 "
                               "0 0 0\n");
    fake.proc.write("71/status", "Name:\tworker\nVmHWM:\t    2048 kB\n");
    const auto state = fake.read(bit("resident") | bit("peak_resident"));
    ASSERT_TRUE(state);
    EXPECT_EQ(value(*state, "resident"), 300 * sysconf(_SC_PAGESIZE));
    EXPECT_EQ(value(*state, "peak_resident"), 2048 * 1024);
    EXPECT_EQ(state->comm, "a (b) c");
    EXPECT_EQ(state->started, 123456u);
    EXPECT_EQ(state->cpu, 2u);
}

TEST(ProcessReader, ThisProcess) {
    ProcessReader reader;
    auto state = reader.read(getpid(), kAll);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->unread & ~kCounters, 0u) << "not every machine has counters";
    EXPECT_EQ(state->parent, static_cast<uint32_t>(getppid()));
    EXPECT_GT(value(*state, "cpu_time"), 0);
    // Its counters are open since then.
    int64_t files = value(*reader.read(getpid(), bit("open_files")), "open_files");
    int more = dup(1);
    EXPECT_EQ(value(*reader.read(getpid(), bit("open_files")), "open_files"), files + 1);
    close(more);
}

}  // namespace
}  // namespace mlbcc::process
