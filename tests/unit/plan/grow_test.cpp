// Libraries that come later: what is planned before they are there, and what they add.
#include <gtest/gtest.h>

#include "plan/planned.h"

namespace mlbcc::plan {
namespace {

class Late {
public:
    explicit Late(std::string text)
        : types_(test::cuda_prototypes()), parsed_(rules::parse_rules(std::move(text))) {
        auto probes = target::resolve_expecting(parsed_.rules, types_.table(), host_,
                                                parsed_.diagnostics, libraries, left_out_);
        plan = make_plan(std::move(probes), parsed_.rules, types_.table(), Arch::x86_64,
                         parsed_.diagnostics);
    }
    Growth comes(std::string_view functions) {
        host_.add("libcuda.so.1", functions);
        host_.libraries["libcuda.so*"] = host_.libraries["libcuda.so.1"];
        Diagnostics found;
        Growth growth =
            grow(plan, target::resolve_late(parsed_.rules, types_.table(), host_, found, left_out_),
                 parsed_.rules, found);
        said = found.render({false, true});
        return growth;
    }
    // "cuInit expected, cuInit 1/0": the functions and their shapes at entry and return.
    std::string functions(size_t first = 0) const {
        std::string out;
        for (size_t i = first; i < plan.probes.size(); ++i) {
            const ProbePlan& probe = plan.probes[i];
            const auto& at = std::get<target::UserFunction>(probe.probe->at);
            out += fmt::format("{}{}{}", out.empty() ? "" : ", ", probe.symbol,
                               at.path.empty() ? " expected" : "");
        }
        return out;
    }
    std::string messages() const { return parsed_.messages(); }

    std::vector<target::SoughtLibrary> libraries;
    Plan plan;
    std::string said;

private:
    test::Prototypes types_;
    rules::Parsed parsed_;
    target::FakeHost host_;
    std::vector<target::LeftOut> left_out_;
};

TEST(Grow, AnAbsentLibraryOfOptionalRulesIsExpected) {
    Late late("on optional cuda:cuInit, cuda:cuMystery { count }");
    EXPECT_EQ(late.messages(), R"(note: library `libcuda.so.1` is not there yet: mlbcc waits for it
 --> libraries.rules:1:1
  |
1 | library cuda = "libcuda.so.1" variants _v2
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = note: searched /etc/ld.so.cache
  = note: searched /usr/lib
)");
    EXPECT_EQ(late.functions(), "cuInit expected, cuMystery expected");
    ASSERT_EQ(late.libraries.size(), 1u);
    EXPECT_EQ(late.libraries[0].title, "`libcuda.so.1`");
    EXPECT_FALSE(late.libraries[0].found);
    EXPECT_TRUE(late.libraries[0].may_come());
    EXPECT_TRUE(late.libraries[0].may_come_anywhere());
}

TEST(Grow, ALibraryThatSomeRuleNeedsMayNotComeAnywhere) {
    Late late("on cuda:cuInit { count }\non optional cuda:cuMemAlloc { count }");
    ASSERT_EQ(late.libraries.size(), 1u);
    EXPECT_FALSE(late.libraries[0].may_come_anywhere());
}

TEST(Grow, OneWithAFolderMayNotComeAnywhere) {
    Late late("on optional \"/opt/libx.so\":f { count }");
    ASSERT_EQ(late.libraries.size(), 1u);
    EXPECT_TRUE(late.libraries[0].may_come());
    EXPECT_FALSE(late.libraries[0].may_come_anywhere());
}

TEST(Grow, WithoutOptionalItIsAMistake) {
    Late late("on cuda:cuInit { count }\non optional cuda:cuMemAlloc { count }");
    EXPECT_EQ(late.messages().substr(0, 44), "error: library `libcuda.so.1` was not found\n");
    EXPECT_EQ(late.functions(), "");
}

TEST(Grow, WhatComesHasTheShapesThatWereExpected) {
    Late late("on optional cuda:cuInit { span driver(args) }");
    const size_t shapes = late.plan.shapes.size();
    const ProbePlan* before = &late.plan.probes[0];
    const Growth growth = late.comes("cuInit@10 cuOther@20");
    EXPECT_EQ(growth.left_out.size(), 0u);
    EXPECT_EQ(late.functions(growth.first_probe), "cuInit");
    EXPECT_EQ(late.plan.shapes.size(), shapes);
    EXPECT_EQ(&late.plan.probes[0], before) << "what events refer to stays where it is";
    EXPECT_EQ(late.plan.probes[1].entry_shape, late.plan.probes[0].entry_shape);
    EXPECT_EQ(late.plan.probes[1].id, ProbeId{1});
}

// Each library may come alone, too.
TEST(Grow, OneFileMayBeTwoLibraries) {
    Late late("on optional cuda:cuInit { span driver(args) }\n"
              "on optional \"libcuda.so*\":cu* { count by function }");
    const size_t shapes = late.plan.shapes.size();
    const Growth growth = late.comes("cuInit@10");
    EXPECT_EQ(growth.left_out.size(), 0u);
    EXPECT_EQ(late.functions(growth.first_probe), "cuInit");
    EXPECT_EQ(late.plan.shapes.size(), shapes);
    EXPECT_EQ(late.plan.probes[growth.first_probe].probe->uses.size(), 2u);
}

TEST(Grow, FormsAreThoseOfTheBaseName) {
    Late late("on optional cuda:cuMemAlloc { count by symbol }");
    const Growth growth = late.comes("cuMemAlloc@10 cuMemAlloc_v2@20");
    EXPECT_EQ(late.functions(growth.first_probe), "cuMemAlloc, cuMemAlloc_v2");
    EXPECT_EQ(growth.left_out.size(), 0u);
}

TEST(Grow, AGlobWithoutPrototypes) {
    Late late("on optional \"libcuda.so.1\":my_*_[ab]? { span work(args)   count by function }");
    EXPECT_EQ(late.functions(), "my__bx expected");
    const Growth growth = late.comes("my_own_a1@10 my_own_c1@20 my_own_b2@30");
    EXPECT_EQ(late.functions(growth.first_probe), "my_own_a1, my_own_b2");
    EXPECT_EQ(growth.left_out.size(), 0u);
}

// Programs run already, and maps have their sizes.
TEST(Grow, WhatNoProgramDoesIsLeftOut) {
    Late late("on optional \"libcuda.so.1\":my_* { count }\n"
              "on optional \"libcuda.so.1\":*_own { hist duration }");
    const size_t shapes = late.plan.shapes.size(), aggregates = late.plan.aggregates.size();
    const Growth growth = late.comes("my_own@10 my_other@20 his_own@30");
    EXPECT_EQ(late.functions(growth.first_probe), "my_other, his_own");
    EXPECT_EQ(growth.left_out, std::vector<std::string>{"my_own"});
    EXPECT_EQ(late.plan.shapes.size(), shapes);
    EXPECT_EQ(late.plan.aggregates.size(), aggregates);
}

TEST(Grow, WhatItDoesNotHaveIsSaid) {
    Late late("on optional cuda:cuInit { count }");
    const Growth growth = late.comes("cuOther@20");
    EXPECT_EQ(late.functions(growth.first_probe), "");
    EXPECT_NE(late.said.find("no function in `libcuda.so.1` matches `cuInit`"), std::string::npos);
}

}  // namespace
}  // namespace mlbcc::plan
