// What the generated C does once where rules ask for it several times.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/generated.h"

namespace mlbcc::test {
namespace {

std::string source(const std::string& rules) {
    return generated(rules, codegen::AttachMode::session);
}

TEST(Once, FieldsOfAStructAreReadAtOnce) {
    std::string text = source("on cuda:cuLaunchKernelEx {\n"
                              "    span userspace(config->gridDimX, config->gridDimY)\n"
                              "    event launch(of = config->hStream)\n"
                              "}\n");
    // The last is wanted at the call's end alone, and saved.
    EXPECT_EQ(count_of(text, "if (bpf_probe_read_user(v0, 40, "), 1u) << text;
    EXPECT_EQ(count_of(text, "_failed |= MLBCC_FAILED(bpf_probe_read_user(&place, "), 3u);
    EXPECT_EQ(count_of(text, "_failed = MLBCC_FAILED("), 0u) << "none is read by itself";
}

TEST(Once, WhatLiesFarApartIsReadByItself) {
    std::string text = source("on entry cuda:cuLaunchKernelEx {\n"
                              "    event launch(config->gridDimX, config->numAttrs)\n"
                              "}\n");
    EXPECT_EQ(count_of(text, "if (bpf_probe_read_user(v"), 0u) << text;
    EXPECT_EQ(count_of(text, "_failed = MLBCC_FAILED("), 2u);
}

TEST(Once, ManyConditionsOfSeveralRulesAreBitsOfOneWord) {
    const auto twice = [](int conditions) {
        std::string all;
        for (int i = 0; i < conditions; ++i)
            all += fmt::format("{}bytesize != {}", i == 0 ? "where " : " && ", 7 * i + 1);
        return fmt::format("on entry cuda:cuMemAlloc {{ {0}  where bytesize > 500  event a() }}\n"
                           "on entry cuda:cuMemAlloc {{ {0}  event b() }}\n",
                           all);
    };
    std::string few = source(twice(4)), many = source(twice(5));
    EXPECT_EQ(count_of(few, "u32 hits = 0;"), 1u) << few;
    EXPECT_EQ(count_of(few, "shared"), 0u);
    EXPECT_EQ(count_of(many, " shared |= 0x"), 5u) << many;
    EXPECT_EQ(count_of(many, "(shared & 0x1f) == 0x1f"), 2u);
    EXPECT_EQ(count_of(many, "((s64)500ULL)"), 1u) << "one rule's own is no bit";
}

TEST(Once, RulesThatShareARecordHaveAnAccountTogether) {
    std::string three;
    for (const char* event : {"a", "b", "c"})
        three += fmt::format("on cuda:cuMemAlloc {{ event {}(bytesize) }}\n", event);
    const Planned planned(three + "on cuda:cuMemFree { event d(dptr) }\n");
    const plan::Plan& plan = planned.plan();
    const std::vector<codegen::AccountedRules> sets = codegen::rule_sets(plan);
    ASSERT_EQ(sets.size(), 1u);
    EXPECT_EQ(sets[0].rules.size(), 3u);
    EXPECT_EQ(sets[0].account, plan.rules.size() + 2);
    EXPECT_LT(sets[0].account, codegen::accounts(plan));
    for (const plan::ProbePlan& probe : plan.probes) {
        const uint64_t first =
            codegen::record_rules(*probe.ret, codegen::record_rules_words(plan), sets)[0];
        EXPECT_EQ(first >> 32, probe.ret->rules.size() == 3 ? sets[0].account : 0u);
    }
}

}  // namespace
}  // namespace mlbcc::test
