// Rules on `interval:`: what of the language they have, and `stack kernel`.
#include <gtest/gtest.h>

#include "plan/planned.h"

namespace mlbcc::test {
namespace {

std::string said(const std::string& clauses) {
    return Planned("on interval:1s { " + clauses + " }").messages();
}

TEST(IntervalPlan, IsNoProbeOfTheKernels) {
    const Planned p("on interval:1s { where resident > 1MiB && comm == \"python3\"\n"
                    "event process.sample(resident, comm, cpu_time_change)   count by threads }");
    EXPECT_EQ(p.messages(), "");
    const plan::ProbePlan& probe = p.probe("interval");
    EXPECT_EQ(probe.kind, plan::ProbeKind::interval);
    EXPECT_TRUE(p.plan().shapes.empty());
    EXPECT_EQ(p.entry("interval"),
              "%1@56; comm@64+16; %33@80; %8@88; "
              "condition<1 r0> (b9 0 #1048576); condition<1 r0> (b11 1 \"python3\"); "
              "event process.sample<1 r0> resident=0 comm=1 cpu_time_change=2; tally 0<1 r0> by 3");
    EXPECT_EQ(probe.entry->layout.unread, 48u);
    EXPECT_EQ(probe.entry->layout.fields[0].type.unit, rules::Unit::bytes);
    EXPECT_EQ(probe.entry->layout.fields[2].type.unit, rules::Unit::nanoseconds);
    EXPECT_EQ(probe.asked_parameters(), 1ull << 1 | 1ull << 8 | 1ull << 33);
}

TEST(IntervalPlan, ArgsAreTheFieldsWithoutTheirChanges) {
    const Planned p("on interval:1s { event process.sample(args) }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.probe("interval").entry->captures.size(), target::kProcessFieldCount);
}

TEST(IntervalPlan, AFieldThatIsNot) {
    EXPECT_EQ(said("event a.b(residnt)"), R"(error: `residnt` is not a field of `interval:1s`
 --> a.rules:1:28
  |
1 | on interval:1s { event a.b(residnt) }
  |                            ^^^^^^^ not known here
  = help: a field with a similar name exists: `resident`
)");
}

TEST(IntervalPlan, IsNoCall) {
    EXPECT_EQ(said("event a.b(ret)"), R"(error: `interval` has no `ret`
 --> a.rules:1:28
  |
1 | on interval:1s { event a.b(ret) }
  |                            ^^^
  = note: it is a moment, not a call that begins and ends
)");
    EXPECT_EQ(said("hist duration"), R"(error: `interval` has no `duration`
 --> a.rules:1:23
  |
1 | on interval:1s { hist duration }
  |                       ^^^^^^^^
  = note: it is a moment, not a call that begins and ends
)");
    EXPECT_EQ(said("count by arg(0)"), R"(error: `arg(0)` is not known to `interval:1s`
 --> a.rules:1:27
  |
1 | on interval:1s { count by arg(0) }
  |                           ^^^^^^
  = note: it looks at processes; it is not a call with arguments
  = help: `mlbcc list` shows the fields that there are
)");
    EXPECT_EQ(said("span a"), R"(error: a `span` needs a call; a look at a process has no duration
 --> a.rules:1:18
  |
1 | on interval:1s { span a }
  |                  ^^^^^^
  = help: use `event`
)");
}

TEST(IntervalPlan, LooksAtNoMemory) {
    const std::string rest =
        R"(  = note: it looks at processes from outside, and not into their memory
  = help: `mlbcc list` shows the fields that there are
)";
    EXPECT_EQ(said("count by str(resident)"),
              R"(error: `str(resident)` is not known to `interval:1s`
 --> a.rules:1:27
  |
1 | on interval:1s { count by str(resident) }
  |                           ^^^^^^^^^^^^^
)" + rest);
    EXPECT_EQ(said("count by file_name(3)"), R"(error: `file_name(3)` is not known to `interval:1s`
 --> a.rules:1:27
  |
1 | on interval:1s { count by file_name(3) }
  |                           ^^^^^^^^^^^^
)" + rest);
    EXPECT_EQ(said("count by in_python(3)"), R"(error: `in_python(3)` is not known to `interval:1s`
 --> a.rules:1:27
  |
1 | on interval:1s { count by in_python(3) }
  |                           ^^^^^^^^^^^^
)" + rest);
    EXPECT_EQ(said("count by *resident"), R"(error: `resident` is not a pointer
 --> a.rules:1:27
  |
1 | on interval:1s { count by *resident }
  |                           ^^^^^^^^^
  = note: its type is `ssize_t`
)");
}

TEST(IntervalPlan, HasNoStackAndNoSample) {
    const std::string help = "  = help: remove it, or give the interval a rule of its own\n";
    EXPECT_EQ(said("count stack user"),
              R"(error: a `stack` is a thread's, and an interval looks at whole processes
 --> a.rules:1:24
  |
1 | on interval:1s { count stack user }
  |                        ^^^^^^^^^^
)" + help);
    EXPECT_EQ(said("event a.b stack kernel"),
              R"(error: a `stack` is a thread's, and an interval looks at whole processes
 --> a.rules:1:28
  |
1 | on interval:1s { event a.b stack kernel }
  |                            ^^^^^^^^^^^^
)" + help);
    EXPECT_EQ(said("event a.b sample 1/2"),
              R"(error: `sample` selects calls, and an interval has none
 --> a.rules:1:28
  |
1 | on interval:1s { event a.b sample 1/2 }
  |                            ^^^^^^^^^^
)" + help);
}

TEST(KernelStackPlan, IsInTheRecordBeforeTheUserStack) {
    const Planned p("on syscall:openat { event a.b(flags) stack kernel }\n"
                    "on tracepoint:sched:sched_switch { event a.b stack user stack kernel }\n"
                    "on kernel:vfs_read { span a stack kernel }");
    EXPECT_EQ(p.messages(), "");
    const plan::RecordLayout& call = p.probe("openat").ret->layout;
    EXPECT_EQ(call.stack[rules::StackKind::kernel], 56u + 8 + 8);
    EXPECT_EQ(call.size, 72u + sizeof(plan::KernelStack));
    EXPECT_FALSE(call.has(rules::StackKind::user));
    const plan::RecordLayout& moment = p.probe("sched_switch").entry->layout;
    EXPECT_EQ(moment.stack[rules::StackKind::kernel], 48u);
    EXPECT_EQ(moment.stack[rules::StackKind::user], 48u + sizeof(plan::KernelStack));
    EXPECT_TRUE(p.probe("vfs_read").entry->layout.has(rules::StackKind::kernel));
    EXPECT_FALSE(p.probe("vfs_read").ret->layout.has(rules::StackKind::kernel))
        << "it is taken at entry";
    EXPECT_TRUE(p.plan().takes(rules::StackKind::kernel));
    EXPECT_FALSE(
        Planned("on kernel:vfs_read { span a stack user }").plan().takes(rules::StackKind::kernel));
}

TEST(KernelStackPlan, AFunctionOfAProgramHasNone) {
    EXPECT_EQ(Planned("on cuda:cuInit { event a.b stack kernel }").messages(),
              R"(error: a function of a program has no kernel stack
 --> a.rules:1:28
  |
1 | on cuda:cuInit { event a.b stack kernel }
  |                            ^^^^^^^^^^^^
  = note: while it runs, the kernel runs only the probe in it
  = help: take `stack user`, or give what the kernel does for the program a rule of its own, as `syscall:`, `sched:` or `kernel:`
)");
}

}  // namespace
}  // namespace mlbcc::test
