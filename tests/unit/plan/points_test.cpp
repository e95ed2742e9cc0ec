// System calls: which of their ends is wanted. Tracepoints: moments.
#include <gtest/gtest.h>

#include "plan/planned.h"

namespace mlbcc::test {
namespace {

using target::Ends;

// Whether a rule on openat and read needs the beginning of each: "call", "completion".
std::string ends(const std::string& clauses) {
    const Planned p("on syscall:openat { " + clauses + " }");
    EXPECT_EQ(p.messages(), "");
    switch (p.probe("openat").ends) {
    case Ends::call: return "call";
    case Ends::moment: return "moment";
    case Ends::completion: return "completion";
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

TEST(PointsPlan, TimeAndMemoryAsItWasNeedTheBeginning) {
    EXPECT_EQ(ends("hist duration by function"), "call");
    EXPECT_EQ(ends("where duration > 1ms count"), "call");
    EXPECT_EQ(ends("count by filename"), "call");
    EXPECT_EQ(ends("where filename == \"/\" count"), "call");
    EXPECT_EQ(ends("learn file[ret] = filename"), "call");
    EXPECT_EQ(ends("event file.open(flags)"), "call");
    EXPECT_EQ(ends("span file"), "call");
    EXPECT_EQ(ends("where flags & 1 count"), "completion");
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

TEST(PointsPlan, ManySystemCallsShareAShape) {
    const Planned counted("on syscall:* { count by function }");
    EXPECT_EQ(counted.plan().probes.size(), 6u);
    EXPECT_EQ(counted.plan().shapes.size(), 1u);
    const Planned timed("on syscall:* { hist duration by function }");
    EXPECT_EQ(timed.plan().shapes.size(), 2u);
    const Planned spans("on syscall:re*, syscall:cl* { span s(ret) }");
    EXPECT_EQ(spans.messages(), "error: `ret` is not known at entry\n"
                                " --> a.rules:1:40\n"
                                "  |\n"
                                "1 | on syscall:re*, syscall:cl* { span s(ret) }\n"
                                "  |                                        ^^^\n"
                                "  = help: remove `entry`: the rule then acts when the call "
                                "returns\n");
}

TEST(PointsPlan, TheRecordOfASystemCall) {
    const Planned p("on syscall:openat { event file.open(filename, flags, ret) }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.entry("openat"), "no record");
    EXPECT_EQ(p.ret("openat"), "text64 %1@56+64; %2@120; ret@128; "
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
    EXPECT_EQ(p.entry("sched_switch"), "");
}

std::string said(const std::string& clauses) {
    return Planned("on tracepoint:sched:sched_switch { " + clauses + " }").messages();
}

TEST(PointsPlan, AMomentHasNoEnd) {
    EXPECT_EQ(said("event a(ret)"), "");
    EXPECT_EQ(said("hist duration"), "");
    EXPECT_EQ(said("span a"), "");
    EXPECT_EQ(said("where ret < 0 count"), "");
}

}  // namespace
}  // namespace mlbcc::test
