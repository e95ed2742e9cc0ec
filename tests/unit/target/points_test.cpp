// System calls and tracepoints: which a rule means, and what their parameters are.
#include <gtest/gtest.h>

#include "fake_kernel.h"

namespace mlbcc::target {
namespace {

std::string points(const std::string& rules) {
    FakeHost host;
    add_kernel(host);
    const Resolved resolved(rules, host);
    EXPECT_EQ(resolved.messages(), "");
    return resolved.points();
}

std::string said(const std::string& rules) {
    FakeHost host;
    add_kernel(host);
    const Resolved resolved(rules, host);
    EXPECT_EQ(resolved.points(), "");
    return resolved.messages();
}

constexpr const char* kRead = "syscall:read 0 long(unsigned int fd, char * buf, size_t count)";
constexpr const char* kOpenat =
    "syscall:openat 257 long(int dfd, const char * filename, int flags, "
    "umode_t mode)";

TEST(Points, ASystemCallHasItsNumberAndItsParameters) {
    EXPECT_EQ(points("on syscall:openat { count }"), std::string(kOpenat) + " <- 0\n");
    EXPECT_EQ(points("on syscall:getpid { count }"), "syscall:getpid 39 long() <- 0\n");
}

TEST(Points, AManualsNameIsNotAlwaysTheKernels) {
    EXPECT_EQ(points("on syscall:fstat { count }"),
              "syscall:fstat 5 long(unsigned int fd, struct stat * statbuf) <- 0\n");
}

TEST(Points, WildcardsAndExcept) {
    EXPECT_EQ(points("on syscall:*at except f* { count }"), std::string(kOpenat) + " <- 0\n");
    EXPECT_EQ(points("on syscall:read, syscall:re* { count }"), std::string(kRead) + " <- 0\n");
}

TEST(Points, TheMoreExactRuleComesLast) {
    EXPECT_EQ(points("on syscall:read { count } on syscall:re* { count }"),
              std::string(kRead) + " <- 1 0\n");
}

TEST(Points, ASystemCallThatTheKernelDoesNotDescribeHasNumberedArguments) {
    FakeHost host;
    add_kernel(host);
    host.system_calls.push_back({"mystery", 500, "mystery"});
    const Resolved resolved("on syscall:mystery { span s(args) }", host);
    EXPECT_EQ(resolved.messages(), "");
    EXPECT_EQ(resolved.points(), "syscall:mystery 500 long(...) <- 0\n");
}

TEST(Points, ATracepointHasTheFieldsOfItsRecord) {
    EXPECT_EQ(points("on tracepoint:sched:sched_process_exec { count }"),
              "tracepoint:sched:sched_process_exec 365 "
              "void(__data_loc char[] filename, pid_t pid, pid_t old_pid) <- 0\n");
}

TEST(Points, WildcardsOfBothWords) {
    EXPECT_EQ(points("on tracepoint:*:*_done, tracepoint:raw*:sys_* { count }"),
              "tracepoint:block:block_rq_done 9 void(bool merged, void * rq, unsigned int bytes, "
              "u64 sector) <- 0\n"
              "tracepoint:raw_syscalls:sys_enter 443 void(long id, unsigned long[6] args) <- 0\n");
    EXPECT_EQ(points("on tracepoint:sched:* except *_switch { count }"),
              "tracepoint:sched:sched_process_exec 365 "
              "void(__data_loc char[] filename, pid_t pid, pid_t old_pid) <- 0\n");
}

TEST(Points, OfANameWithoutMatchTheNearestIsSaid) {
    EXPECT_EQ(said("on syscall:opnat { count }"), R"(error: no system call matches `opnat`
 --> test.rules:1:4
  |
1 | on syscall:opnat { count }
  |    ^^^^^^^^^^^^^
  = note: searched the 6 system calls of this kernel
  = help: there is one with a similar name: `openat`
)");
    EXPECT_EQ(said("on tracepoint:sched:sched_swich { count }"),
              R"(error: no tracepoint matches `sched:sched_swich`
 --> test.rules:1:4
  |
1 | on tracepoint:sched:sched_swich { count }
  |    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = note: searched the 10 tracepoints of this kernel
  = help: there is one with a similar name: `sched:sched_switch`
)");
}

TEST(Points, ExceptThatLeavesNothingIsAMistake) {
    EXPECT_EQ(said("on syscall:read except re* { count }"),
              R"(error: `except` leaves no system call of `read`
 --> test.rules:1:4
  |
1 | on syscall:read except re* { count }
  |    ^^^^^^^^^^^^
)");
}

TEST(Points, AnOptionalRuleIsContentWithNone) {
    EXPECT_EQ(said("on optional syscall:opnat { count }"), R"(note: no system call matches `opnat`
 --> test.rules:1:13
  |
1 | on optional syscall:opnat { count }
  |             ^^^^^^^^^^^^^
  = note: searched the 6 system calls of this kernel
  = help: there is one with a similar name: `openat`
)");
}

TEST(Points, SystemCallsOfAnOptionalRuleAreAlternatives) {
    EXPECT_EQ(points("on optional syscall:opnat, syscall:openat { count }"),
              std::string(kOpenat) + " <- 0\n");
}

TEST(Points, AKernelThatTellsNothing) {
    FakeHost host;
    EXPECT_EQ(Resolved("on syscall:read { count }", host).messages(),
              R"(error: cannot find this kernel's system calls
 --> test.rules:1:4
  |
1 | on syscall:read { count }
  |    ^^^^^^^^^^^^
  = note: the machine is none
)");
    EXPECT_EQ(Resolved("on tracepoint:a:b { count }", host).messages(),
              R"(error: cannot find this kernel's tracepoints
 --> test.rules:1:4
  |
1 | on tracepoint:a:b { count }
  |    ^^^^^^^^^^^^^^
  = note: cannot open /t/available_events: No such file or directory
  = help: mount it
)");
}

TEST(Points, ATracepointWhoseFormatIsNotToBeRead) {
    FakeHost host;
    add_kernel(host);
    host.formats["sched:sched_secret"];
    EXPECT_EQ(Resolved("on tracepoint:sched:sched_secret { count }", host).messages(),
              R"(error: the tracepoint `sched:sched_secret` cannot be traced
 --> test.rules:1:4
  |
1 | on tracepoint:sched:sched_secret { count }
  |    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = note: cannot open its format: Permission denied
)");
}

TEST(Intervals, HaveTheFieldsOfAProcessAndTheirChanges) {
    const std::string text = points("on interval:100ms { count }");
    EXPECT_TRUE(text.starts_with("100ms void(long elapsed, ssize_t resident, ssize_t virtual, "))
        << text;
    EXPECT_NE(text.find("ssize_t written_chars, long cycles, "), std::string::npos);
    EXPECT_TRUE(text.ends_with("long branch_misses_change) <- 0\n")) << text;
    EXPECT_EQ(text.find("elapsed_change"), std::string::npos);
}

TEST(Intervals, OfOnePeriodAreOneProbe) {
    FakeHost host;
    const Resolved resolved("on interval:1s { count } on interval:100ms, interval:1000ms { count }",
                            host);
    EXPECT_EQ(resolved.messages(), "");
    ASSERT_EQ(resolved.probes().size(), 2u);
    EXPECT_EQ(std::get<Interval>(resolved.probes()[0].at).period_ns, 100'000'000u);
    EXPECT_EQ(std::get<Interval>(resolved.probes()[1].at).period_ns, 1'000'000'000u);
    EXPECT_EQ(resolved.probes()[1].uses.size(), 2u);
}

TEST(Intervals, ArePrintedInTheLargestUnit) {
    EXPECT_EQ(period_text(2'000'000'000), "2s");
    EXPECT_EQ(period_text(1'500'000'000), "1500ms");
    EXPECT_EQ(period_text(1'500'000), "1500us");
    EXPECT_EQ(period_text(1'000'001), "1000001ns");
}

TEST(Intervals, HaveNothingToExcept) {
    FakeHost host;
    EXPECT_EQ(Resolved("on interval:1s except f* { count }", host).messages(),
              R"(error: `except` takes functions out, and an interval has none
 --> test.rules:1:23
  |
1 | on interval:1s except f* { count }
  |                       ^^
  = help: remove it, or use `where`: `where comm != "python3"`
)");
}

}  // namespace
}  // namespace mlbcc::target
