// What is counted in the kernel: keys, units, totals.
#include <gtest/gtest.h>

#include "plan/planned.h"

namespace mlbcc::test {
namespace {

// "function@0 comm@8": names and offsets of a key's parts.
std::string key(const plan::Aggregate& aggregate) {
    std::string out;
    for (const auto& part : aggregate.by) {
        out += fmt::format("{}{}@{}", out.empty() ? "" : " ", part.name, part.field.offset);
    }
    return out;
}

TEST(Aggregates, WithoutGroupsACountOrASumIsATotal) {
    const Planned p("on cuda:cuMemAlloc { count sum bytesize as \"Bytes\" hist duration }");
    EXPECT_EQ(p.messages(), "");
    ASSERT_EQ(p.plan().aggregates.size(), 3u);
    const auto& all = p.plan().aggregates;
    EXPECT_TRUE(all[0].is_total());
    EXPECT_TRUE(all[1].is_total());
    EXPECT_FALSE(all[2].is_total());
    EXPECT_EQ(all[0].label, "count");
    EXPECT_EQ(all[1].label, "Bytes");
    EXPECT_EQ(all[1].unit, rules::Unit::bytes);
    EXPECT_EQ(all[2].label, "duration");
    EXPECT_EQ(all[2].unit, rules::Unit::nanoseconds);
    EXPECT_FALSE(all[2].is_signed);
    EXPECT_EQ(p.entry("cuMemAlloc_v2"), "no record");
    EXPECT_EQ(p.ret("cuMemAlloc_v2"), "no record");
    EXPECT_TRUE(p.probe("cuMemAlloc_v2").has_return());
    EXPECT_EQ(p.probe("cuMemAlloc_v2").saved_words, 6u) << "bytesize, for the sum at return";
}

TEST(Aggregates, AKeyHasItsPartsInOrder) {
    const Planned p("on cuda:cuMemAlloc { count by function, comm, bytesize > 4096 }\n"
                    "on cuda:cuModuleGetFunction { count by name, hmod }");
    EXPECT_EQ(p.messages(), "");
    const auto& all = p.plan().aggregates;
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(key(all[0]), "function@0 comm@8 bytesize > 4096@24");
    EXPECT_EQ(all[0].key_size, 32u);
    EXPECT_EQ(key(all[1]), "name@0 hmod@64");
    EXPECT_EQ(all[1].key_size, 72u);
}

// The kernel does not know what the handle was called then.
TEST(Aggregates, AGroupByALearntNameIsTheTracers) {
    const Planned p("on cuda:cuModuleGetFunction { learn kernel[*hfunc] = name }\n"
                    "on cuda:cuLaunchKernel { count by kernel[f] as \"Kernel launches\" }");
    EXPECT_EQ(p.messages(), "");
    const auto& one = p.plan().aggregates.at(0);
    EXPECT_EQ(one.by.at(0).name, "kernel[f]");
    EXPECT_TRUE(one.in_tracer && !one.in_kernel);
    const plan::ProbePlan& launch = p.probe("cuLaunchKernel");
    EXPECT_TRUE(launch.aggregates.empty());
    ASSERT_TRUE(launch.entry && !launch.ret) << "its beginning is enough";
    EXPECT_TRUE(std::holds_alternative<plan::TallyEmit>(launch.entry->emits.at(0).what));
}

TEST(Aggregates, AClauseIsOneForAllFunctionsOfItsRule) {
    const Planned p("on cuda:cu* { count by function }\non cuda:cuInit { count }");
    EXPECT_EQ(p.messages(), "");
    ASSERT_EQ(p.plan().aggregates.size(), 2u);
    EXPECT_EQ(p.probe("cuMemFree_v2").aggregates.size(), 1u);
    const auto& uses = p.probe("cuInit").aggregates;
    ASSERT_EQ(uses.size(), 2u);
    EXPECT_EQ(uses[0].aggregate, p.probe("cuMemFree_v2").aggregates.at(0).aggregate);
    EXPECT_EQ(uses[0].hit, 1u);
    EXPECT_EQ(uses[1].hit, 2u);
}

TEST(Aggregates, OnEntryIsCountedAtEntry) {
    const Planned p("on entry cuda:cuMemAlloc { sum bytesize - 5 by pid }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_TRUE(p.probe("cuMemAlloc_v2").aggregates.at(0).at_entry);
    EXPECT_FALSE(p.probe("cuMemAlloc_v2").has_return());
    EXPECT_EQ(p.probe("cuMemAlloc_v2").saved_words, 0u);
}

// A rule that only counts does so at entry where it knows enough; one that asks for more, and one
// that keeps anything else, when the call returns.
TEST(Aggregates, OnlyCountingIsDoneAtEntry) {
    const auto has_return = [](const char* rule) {
        return Planned(rule).probe("cuMemAlloc_v2").has_return();
    };
    EXPECT_FALSE(has_return("on cuda:cuMemAlloc { count by function, bytesize sample 1/2 }"));
    EXPECT_FALSE(
        has_return("on cuda:cuMemAlloc { where bytesize > 5 sum bytesize hist bytesize }"));
    EXPECT_TRUE(has_return("on cuda:cuMemAlloc { where ret == 0 count }"));
    EXPECT_TRUE(has_return("on cuda:cuMemAlloc { count by ret }"));
    EXPECT_TRUE(has_return("on cuda:cuMemAlloc { count hist duration }"));
    EXPECT_TRUE(has_return("on cuda:cuMemAlloc { count by *dptr }"));
    EXPECT_TRUE(has_return("on cuda:cuMemAlloc { sum bytesize over duration }"));
    EXPECT_TRUE(has_return("on cuda:cuMemAlloc { count learn t[bytesize] = 1 }"));
    EXPECT_TRUE(has_return("on cuda:cuMemAlloc { learn t[bytesize] = 1 }\n"
                           "on cuda:cuMemAlloc { where t[bytesize] == 1 count }"));
}

TEST(Aggregates, ASumOfSignedValuesIsSigned) {
    Prototypes types = cuda_prototypes();
    types.add("int cuSigned(int n, size_t m)");
    const Planned p("on cuda:cuSigned { sum n sum m sum ret hist n - 1 }", "cuSigned@10", types);
    EXPECT_EQ(p.messages(), "");
    const auto& all = p.plan().aggregates;
    ASSERT_EQ(all.size(), 4u);
    EXPECT_TRUE(all[0].is_signed);
    EXPECT_FALSE(all[1].is_signed);
    EXPECT_TRUE(all[2].is_signed);
    EXPECT_TRUE(all[3].is_signed);
    EXPECT_EQ(all[3].label, "n - 1");
}

TEST(Aggregates, APartOfTwoSizesIsAMistake) {
    Prototypes types = cuda_prototypes();
    types.add("int cuA(const char *x)").add("int cuB(int x)");
    const Planned p("\n\n\n\n\n\n\n\n\non cuda:cu* { count by x }", "cuA@10 cuB@20", types);
    EXPECT_EQ(p.messages(), "error: `x` is not of one kind in all functions\n"
                            "  --> a.rules:10:24\n"
                            "   |\n"
                            "10 | on cuda:cu* { count by x }\n"
                            "   |                        ^\n"
                            "   = note: in `cuB` it takes another size than in the first function\n"
                            "   = help: split the rule\n");
}

}  // namespace
}  // namespace mlbcc::test
