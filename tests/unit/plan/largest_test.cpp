// What `largest`, and a stack that is learnt, make of a record.
#include <gtest/gtest.h>

#include "plan/planned.h"

namespace mlbcc::test {
namespace {

TEST(LargestPlan, IsOneListForAllFunctionsOfItsRule) {
    const Planned p("on cuda:cuMemAlloc, cuda:cuMemcpyHtoD {\n"
                    "    largest 3 by duration as \"Slowest\" (function)\n"
                    "    largest 5 by time as \"Last\"\n"
                    "}");
    EXPECT_EQ(p.messages(), "");
    ASSERT_EQ(p.plan().lists.size(), 2u);
    const plan::LargestList& list = p.plan().lists[0];
    EXPECT_EQ(list.title, "Slowest");
    EXPECT_EQ(list.by, "duration");
    EXPECT_EQ(list.count, 3u);
    EXPECT_EQ(list.unit, rules::Unit::nanoseconds);
    EXPECT_FALSE(list.is_signed);
    EXPECT_EQ(p.plan().lists[1].by, "time");
    for (const char* symbol : {"cuMemAlloc_v2", "cuMemcpyHtoD_v2"}) {
        std::string record = p.ret(symbol);
        EXPECT_NE(record.find("largest 0<1 r0> (b4 0 1) function=2"), std::string::npos) << record;
        EXPECT_NE(record.find("largest 1<1 r0> 3"), std::string::npos) << record;
    }
}

TEST(LargestPlan, IsByWhatTheTracerKnows) {
    const Planned p("on cuda:cuInit { learn seen[tid] = time }\n"
                    "on cuda:cuMemAlloc { largest 3 by gap = seen[tid] * 1ns as \"Gaps\" "
                    "(since = seen[tid] + 1)  stack user }");
    EXPECT_EQ(p.messages(), "");
    ASSERT_EQ(p.plan().lists.size(), 1u);
    EXPECT_EQ(p.plan().lists[0].by, "gap");
    EXPECT_EQ(p.plan().lists[0].unit, rules::Unit::nanoseconds);
    std::string record = p.ret("cuMemAlloc_v2");
    EXPECT_NE(record.find("largest 0<1 r1 stack> (b0 seen[0]1 #1) since=(b3 seen[0]1 #1)"),
              std::string::npos)
        << record;
}

TEST(LargestPlan, OfANameIsANumber) {
    const Planned p("on cuda:cuInit { learn seen[tid] = time }\n"
                    "on cuda:cuMemAlloc { largest 3 by seen[tid] as \"Times\" }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_TRUE(p.plan().lists.at(0).is_signed);
    EXPECT_NE(p.ret("cuMemAlloc_v2").find("largest 0<1 r1> seen[0]1"), std::string::npos);
}

TEST(LargestPlan, IsByANumber) {
    EXPECT_EQ(Planned("on cuda:cuInit { largest 3 by comm as \"Names\" }").messages(),
              "error: what is largest is a number\n"
              " --> a.rules:1:31\n"
              "  |\n"
              "1 | on cuda:cuInit { largest 3 by comm as \"Names\" }\n"
              "  |                               ^^^^ this is text\n");
    EXPECT_EQ(Planned("on entry cuda:cuInit { largest 3 by duration as \"Slowest\" }").messages(),
              "error: `duration` is not known at entry\n"
              " --> a.rules:1:37\n"
              "  |\n"
              "1 | on entry cuda:cuInit { largest 3 by duration as \"Slowest\" }\n"
              "  |                                     ^^^^^^^^\n"
              "  = help: remove `entry`: the rule then acts when the call returns\n");
}

TEST(LargestPlan, AStackIsLearntFromTheRule) {
    const Planned p("on cuda:cuInit { learn at[tid] = stack  stack user }\n"
                    "on cuda:cuMemAlloc { event e(at = at[tid]) }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_NE(p.ret("cuInit").find("learn at<1 r0 stack> 0=stack"), std::string::npos)
        << p.ret("cuInit");
    EXPECT_TRUE(p.probe("cuInit").ret->layout.has(rules::StackKind::user));
}

TEST(LargestPlan, AStackThatIsNotTakenIsNotLearnt) {
    EXPECT_EQ(Planned("on cuda:cuInit { learn at[tid] = stack }").messages(),
              "error: the rule takes no stack that could be learnt\n"
              " --> a.rules:1:34\n"
              "  |\n"
              "1 | on cuda:cuInit { learn at[tid] = stack }\n"
              "  |                                  ^^^^^\n"
              "  = help: add `stack user`, `stack kernel` or `stack python` to the rule\n");
    EXPECT_EQ(Planned("on cuda:cuInit { learn at[tid] add stack  stack user }").messages(),
              "error: a stack is learnt by `=`\n"
              " --> a.rules:1:36\n"
              "  |\n"
              "1 | on cuda:cuInit { learn at[tid] add stack  stack user }\n"
              "  |                                    ^^^^^\n");
}

}  // namespace
}  // namespace mlbcc::test
