// Mistakes that show when a rule meets a function; whole messages.
#include <gtest/gtest.h>

#include "plan/planned.h"

namespace mlbcc::test {
namespace {

// Nine empty lines, so that places have two digits.
std::string said(const std::string& rule) {
    return Planned("\n\n\n\n\n\n\n\n\n" + rule).messages();
}

TEST(PlannerMistakes, ASpanKnowsNothingOfTheReturn) {
    EXPECT_EQ(said("on cuda:cuInit { where ret != 0 span userspace }"),
              "error: a `span` begins before this is known\n"
              "  --> a.rules:10:24\n"
              "   |\n"
              "10 | on cuda:cuInit { where ret != 0 span userspace }\n"
              "   |                        ^^^^^^^^ known when the call returns\n"
              "   = help: use `event`, which is written when the call returns, or a condition on "
              "what is known at entry\n");
    EXPECT_EQ(said("on cuda:cuInit { where Flags != 0 span userspace }"), "");
}

TEST(PlannerMistakes, ASpanHasTwoEnds) {
    EXPECT_EQ(said("on entry cuda:cuInit { span userspace }"),
              "error: a `span` needs both ends of a call, and `on entry` acts at the first\n"
              "  --> a.rules:10:24\n"
              "   |\n"
              "10 | on entry cuda:cuInit { span userspace }\n"
              "   |                        ^^^^^^^^^^^^^^\n"
              "   = help: remove `entry`, or use `event`\n");
}

TEST(PlannerMistakes, AConditionIsANumber) {
    EXPECT_EQ(said("on cuda:cuInit { where comm count }"),
              "error: a condition is a number or a comparison\n"
              "  --> a.rules:10:24\n"
              "   |\n"
              "10 | on cuda:cuInit { where comm count }\n"
              "   |                        ^^^^ this is text\n");
}

TEST(PlannerMistakes, Gauges) {
    EXPECT_EQ(said("on cuda:cuInit { gauge g[Flags] += 1 }"),
              "error: `+=` is for a gauge without a key\n"
              "  --> a.rules:10:33\n"
              "   |\n"
              "10 | on cuda:cuInit { gauge g[Flags] += 1 }\n"
              "   |                                 ^^\n"
              "   = help: use `=`, or remove the key\n")
        << "the parser's, once";
    EXPECT_EQ(said("on cuda:cuInit { gauge g = comm }"), "error: a gauge is a number\n"
                                                         "  --> a.rules:10:28\n"
                                                         "   |\n"
                                                         "10 | on cuda:cuInit { gauge g = comm }\n"
                                                         "   |                            ^^^^ "
                                                         "this is text\n");
    EXPECT_EQ(said("on cuda:cuInit { gauge g[comm] = 1 }"),
              "error: the key of a gauge is a number\n"
              "  --> a.rules:10:26\n"
              "   |\n"
              "10 | on cuda:cuInit { gauge g[comm] = 1 }\n"
              "   |                          ^^^^ this is text\n");
}

TEST(PlannerMistakes, ASpanBeginsInTheKernel) {
    EXPECT_EQ(said("on cuda:cuLaunchKernel { where k[f] learn k[f] = hStream span a }"),
              "error: a `span` begins in the kernel, and this is known to the tracer\n"
              "  --> a.rules:10:32\n"
              "   |\n"
              "10 | on cuda:cuLaunchKernel { where k[f] learn k[f] = hStream span a }\n"
              "   |                                ^^^^\n"
              "   = help: use `event`, which the tracer may leave out\n");
}

TEST(PlannerMistakes, LearntTables) {
    EXPECT_EQ(said("on cuda:cuModuleGetFunction { learn k[name] = hmod }"),
              "error: the key of a learnt table is a number\n"
              "  --> a.rules:10:39\n"
              "   |\n"
              "10 | on cuda:cuModuleGetFunction { learn k[name] = hmod }\n"
              "   |                                       ^^^^ this is text\n");
}

TEST(PlannerMistakes, OnlyNumbersAreSummed) {
    EXPECT_EQ(said("on cuda:cuInit { hist comm }"),
              "error: what is summed or measured is a number\n"
              "  --> a.rules:10:23\n"
              "   |\n"
              "10 | on cuda:cuInit { hist comm }\n"
              "   |                       ^^^^ this is text\n");
}

TEST(PlannerMistakes, AMistakeIsToldOnceForManyFunctions) {
    EXPECT_EQ(said("on cuda:cu* except cuMystery { event a(size) }"),
              "error: `size` is not a parameter of `cuInit`\n"
              "  --> a.rules:10:40\n"
              "   |\n"
              "10 | on cuda:cu* except cuMystery { event a(size) }\n"
              "   |                                        ^^^^ not known here\n"
              "note: the prototype is here\n"
              "  --> api.h:3:10\n");
}

TEST(PlannerMistakes, AllMistakesOfARuleAreTold) {
    const Planned p("on cuda:cuInit { where aaaa event x(bbbb) sum cccc gauge g[dddd] = eeee }");
    std::string text = p.messages();
    for (const char* name : {"`aaaa`", "`bbbb`", "`cccc`", "`dddd`", "`eeee`"}) {
        EXPECT_NE(text.find(name), text.npos) << name << " in\n" << text;
    }
}

// `function` and `symbol` would be other text for each: told once all the same.
TEST(PlannerMistakes, TooManyRulesOnOneFunction) {
    std::string rules(9, '\n');
    for (uint32_t i = 0; i < plan::kMaxHits; ++i) rules += "on cuda:cu* { count }\n";
    EXPECT_EQ(Planned(rules).messages(), "");
    EXPECT_EQ(Planned(rules + "on cuda:cuI*, cuda:cuM* { count }").messages(),
              "error: more than 24 rules match `cuInit`\n"
              "  --> a.rules:34:1\n"
              "   |\n"
              "34 | on cuda:cuI*, cuda:cuM* { count }\n"
              "   | ^^^^^^^^^^^^^^^^^^^^^^^\n"
              "   = help: join rules, or narrow their targets\n");
}

}  // namespace
}  // namespace mlbcc::test
