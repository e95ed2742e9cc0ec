// System calls: which of their ends is wanted. Tracepoints: moments.
#include <gtest/gtest.h>

#include "plan/planned.h"

namespace mlbcc::test {
namespace {

using target::Ends;

// What a rule on the system call needs of its beginning: "call", "timed", "completion".
std::string ends(const std::string& clauses, const std::string& call = "openat") {
    const Planned p("on syscall:" + call + " { " + clauses + " }");
    EXPECT_EQ(p.messages(), "");
    switch (p.probe(call).ends) {
    case Ends::call: return "call";
    case Ends::moment: return "moment";
    case Ends::completion: return "completion";
    case Ends::timed: return "timed";
    }
    return "";
}

TEST(PointsPlan, OfACallThatIsOnlyCountedTheEndIsEnough) {
    EXPECT_EQ(ends("count by function"), "completion");
    EXPECT_EQ(ends("where ret < 0 && flags & 1 count by function, ret"), "completion");
    EXPECT_EQ(ends("sum flags by dfd"), "completion");
    EXPECT_EQ(ends("hist ret"), "completion");
    EXPECT_EQ(ends("gauge opened[ret] = 1"), "completion");
}

TEST(PointsPlan, OfACallThatTakesTimeTheBeginningIsATime) {
    EXPECT_EQ(ends("hist duration by function"), "timed");
    EXPECT_EQ(ends("where duration > 1ms count"), "timed");
    EXPECT_EQ(ends("event file.open(flags)"), "timed");
    EXPECT_EQ(ends("where flags & 1 event file.open(flags, ret)   stack user"), "timed");
    EXPECT_EQ(ends("where flags & 1 count"), "completion");
}

TEST(PointsPlan, MemoryAsItWasNeedsTheBeginning) {
    EXPECT_EQ(ends("count by filename"), "call");
    EXPECT_EQ(ends("where filename == \"/\" count"), "call");
    EXPECT_EQ(ends("learn file[ret] = filename"), "call");
    EXPECT_EQ(ends("where duration > 1ms event file.open(filename)"), "call");
    EXPECT_EQ(ends("span file"), "call");
    EXPECT_EQ(ends("event file.open(name = str((char *)filename, 64))"), "timed");
}

TEST(PointsPlan, AFileHasItsNameUntilTheCallCloses) {
    EXPECT_EQ(ends("count by file_name(fd)", "read"), "completion");
    EXPECT_EQ(ends("event file.read(name = file_name(fd))", "read"), "timed");
    EXPECT_EQ(ends("count by file_name(fd)", "close"), "call");
    EXPECT_EQ(ends("event file.close(name = file_name(fd))", "close"), "call");
    EXPECT_EQ(ends("count by file_name(ret)", "openat"), "completion");
}

TEST(PointsPlan, ATimedCallHasNoRecordOfItsBeginning) {
    const Planned p(
        "on syscall:read, syscall:write { where fd > 2 event file.use(fd, bytes = ret) }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.entry("read"), "no record");
    EXPECT_TRUE(p.probe("read").entry_shape);
    EXPECT_EQ(p.probe("read").entry_shape, p.probe("write").entry_shape);
    EXPECT_TRUE(p.probe("read").saved.empty());
    EXPECT_EQ(p.probe("read").saved_words, 0u);
}

TEST(PointsPlan, AnEntryRuleBesideOthersMakesItACall) {
    const Planned p("on entry syscall:openat { count } on syscall:openat { count }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.probe("openat").ends, Ends::call);
}

TEST(PointsPlan, ACompletionHasNoEntry) {
    const Planned p("on syscall:close { where ret != 0 gauge bad[fd] = ret }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_FALSE(p.probe("close").entry_shape);
    EXPECT_TRUE(p.probe("close").return_shape);
    EXPECT_EQ(p.entry("close"), "no record");
}

TEST(PointsPlan, AFunctionOfTheKernelIsACallWithRegisters) {
    const Planned p("on kernel:vfs_read { span kernel(args) }");
    EXPECT_EQ(p.messages(), "");
    const plan::ProbePlan& probe = p.probe("vfs_read");
    EXPECT_EQ(probe.kind, plan::ProbeKind::kernel);
    EXPECT_EQ(probe.ends, Ends::call);
    EXPECT_EQ(plan::to_text(probe.slots[1][0]), "r1");
    EXPECT_EQ(probe.entry->argument_words, 2u) << "one program for all such functions";
    EXPECT_EQ(probe.entry->argument_text, 2u);
    EXPECT_EQ(probe.text_words, 2u);
}

TEST(PointsPlan, AFunctionOfTheKernelSharesNoShapeWithAProgramsFunction) {
    const Planned p("on cuda:cuInit, kernel:vfs_* { hist duration }");
    EXPECT_EQ(p.plan().probes.size(), 3u);
    EXPECT_EQ(p.plan().shapes.size(), 4u);
}

TEST(PointsPlan, ManySystemCallsShareAShape) {
    const Planned counted("on syscall:* { count by function }");
    EXPECT_EQ(counted.plan().probes.size(), 6u);
    EXPECT_EQ(counted.plan().shapes.size(), 1u);
    const Planned timed("on syscall:* { hist duration by function }");
    EXPECT_EQ(timed.plan().shapes.size(), 2u);
}

TEST(PointsPlan, TheRecordOfASystemCall) {
    const Planned p("on syscall:openat { event file.open(filename, flags, ret) }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.entry("openat"), "no record");
    EXPECT_EQ(p.ret("openat"), "(text %1:28 64)@56+64; %2@120; ret@128; ret@136; "
                               "event file.open<1 r0> filename=0 flags=1 ret=2");
    EXPECT_EQ(p.probe("openat").text_words, 2u);
}

TEST(PointsPlan, ATracepointIsAMoment) {
    const Planned p("on tracepoint:sched:sched_switch { event switch(args) }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.probe("sched_switch").ends, Ends::moment);
    EXPECT_EQ(p.probe("sched_switch").function, "sched_switch");
    EXPECT_FALSE(p.probe("sched_switch").has_return());
    EXPECT_EQ(p.ret("sched_switch"), "no record");
    EXPECT_EQ(p.entry("sched_switch"),
              "(text %0:28 16)@48+16; %1@64; %2@72; (text %3:28 16)@80+16; %4@96; "
              "event switch.<1 r0> prev_comm=0 prev_pid=1 prev_state=2 next_comm=3 next_pid=4");
}

std::string said(const std::string& clauses) {
    return Planned("on tracepoint:sched:sched_switch { " + clauses + " }").messages();
}

TEST(PointsPlan, AMomentHasNoEnd) {
    const std::string note = "  = note: it is a moment, not a call that begins and ends\n";
    EXPECT_EQ(said("event a(ret)"), "error: `sched_switch` has no `ret`\n"
                                    " --> a.rules:1:44\n"
                                    "  |\n"
                                    "1 | on tracepoint:sched:sched_switch { event a(ret) }\n"
                                    "  |                                            ^^^\n" +
                                        note);
    EXPECT_EQ(said("hist duration"), "error: `sched_switch` has no `duration`\n"
                                     " --> a.rules:1:41\n"
                                     "  |\n"
                                     "1 | on tracepoint:sched:sched_switch { hist duration }\n"
                                     "  |                                         ^^^^^^^^\n" +
                                         note);
    EXPECT_EQ(said("where ret < 0 count"),
              "error: `sched_switch` has no `ret`\n"
              " --> a.rules:1:42\n"
              "  |\n"
              "1 | on tracepoint:sched:sched_switch { where ret < 0 count }\n"
              "  |                                          ^^^\n" +
                  note);
    EXPECT_EQ(said("span a"), "error: a `span` needs a call; a tracepoint has no duration\n"
                              " --> a.rules:1:36\n"
                              "  |\n"
                              "1 | on tracepoint:sched:sched_switch { span a }\n"
                              "  |                                    ^^^^^^\n"
                              "  = help: use `event`\n");
}

}  // namespace
}  // namespace mlbcc::test
