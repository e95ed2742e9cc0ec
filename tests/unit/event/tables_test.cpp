#include "event/tables.h"

#include <gtest/gtest.h>

#include "event/test_plan.h"

namespace mlbcc::event {
namespace {

using namespace mlbcc::test;

class Learnt : public testing::Test {
protected:
    Learnt() {
        plan::ProbeId get = t.probe("cuModuleGetFunction"), open = t.probe("open");
        t.learn(get, End::ret, "kernel", t.number(get, End::ret, kHex), t.text(get, End::ret, 16));
        t.learn(open, End::ret, "file", t.number(open, End::ret, kI32), t.text(open, End::ret, 16));
    }
    static Value text(std::string_view name) { return {&kText, 0, name, false, false}; }
    std::string find(const Tables& tables, const char* table, uint32_t pid, uint64_t key) const {
        auto value = tables.find(*tables.table(table), pid, key);
        return value ? value_text(*value) : "-";
    }
    TestPlan t;
};

TEST_F(Learnt, NamesByProcess) {
    Tables tables(t.plan);
    tables.learn(*tables.table("kernel"), 70, 0x1000, text("gemm"));
    EXPECT_EQ(find(tables, "kernel", 70, 0x1000), "gemm");
    EXPECT_EQ(find(tables, "kernel", 71, 0x1000), "-");
    EXPECT_EQ(find(tables, "file", 70, 0x1000), "-");
    EXPECT_EQ(tables.table("nothing"), std::nullopt);
}

TEST_F(Learnt, ALaterNameReplaces) {
    Tables tables(t.plan);
    tables.learn(*tables.table("kernel"), 70, 1, text("a"));
    tables.learn(*tables.table("kernel"), 70, 1, text("b"));
    EXPECT_EQ(find(tables, "kernel", 70, 1), "b");
    EXPECT_EQ(tables.size(), 1u);
}

TEST_F(Learnt, FunctionsAreKnownByThemselves) {
    Tables tables(t.plan);
    EXPECT_EQ(find(tables, rules::kFunctionAt, 70, 0x400), "-") << "nobody knows them";
    int asked = 0;
    tables.ask_functions_of([&](uint32_t pid, uint64_t address) -> std::optional<std::string> {
        ++asked;
        if (address != 0x1000) return std::nullopt;
        return pid == 70 ? "gemm" : "relu";
    });
    EXPECT_EQ(find(tables, rules::kFunctionAt, 70, 0x1000), "gemm");
    EXPECT_EQ(find(tables, rules::kFunctionAt, 71, 0x1000), "relu");
    EXPECT_EQ(find(tables, rules::kFunctionAt, 70, 0x1008), "-");
    EXPECT_EQ(asked, 3);
    EXPECT_EQ(find(tables, rules::kFunctionAt, 70, 0x1000), "gemm");
    EXPECT_EQ(find(tables, rules::kFunctionAt, 70, 0x1008), "-");
    EXPECT_EQ(asked, 3) << "once an address";
    tables.executed(70);
    EXPECT_EQ(find(tables, rules::kFunctionAt, 70, 0x1000), "gemm");
    EXPECT_EQ(find(tables, rules::kFunctionAt, 71, 0x1000), "relu");
    EXPECT_EQ(asked, 4) << "another program may have another there";
}

// A probe that is in place `until_known` is of use as long as it says something new.
TEST_F(Learnt, WhatIsNewAndWhatIsSought) {
    Tables tables(t.plan);
    const TableId kernel = *tables.table("kernel"), file = *tables.table("file");
    auto set = [&](TableId table, std::string_view name) {
        return tables.apply({table, rules::LearnOp::set, 70, 1, std::nullopt, text(name)});
    };
    EXPECT_TRUE(set(kernel, "a"));
    EXPECT_FALSE(set(kernel, "a"));
    EXPECT_TRUE(set(kernel, "b"));
    (void)tables.entry(kernel, 70, 2);
    EXPECT_EQ(tables.sought(), 0u);
    t.plan.probes[0].until_known = true;
    Tables learning(t.plan);
    (void)learning.entry(kernel, 70, 1);
    (void)learning.entry(file, 70, 1);
    EXPECT_EQ(learning.sought(), 1u);
    learning.learn(kernel, 70, 1, text("a"));
    (void)learning.entry(kernel, 70, 1);
    EXPECT_EQ(learning.sought(), 1u);
    learning.executed(71);  // seen from its start
    (void)learning.entry(kernel, 71, 1);
    EXPECT_EQ(learning.sought(), 1u);
}

TEST_F(Learnt, NumbersStayNumbers) {
    Tables tables(t.plan);
    tables.learn(*tables.table("file"), 70, 3, {&kI32, 42, {}, false, false});
    EXPECT_EQ(find(tables, "file", 70, 3), "42");
}

TEST_F(Learnt, AStackHidesAndShows) {
    Tables tables(t.plan);
    TableId kernel = *tables.table("kernel");
    auto change = [&](rules::LearnOp op, std::string_view name) {
        tables.apply({kernel, op, 70, 1, std::nullopt, text(name)});
    };
    change(rules::LearnOp::push, "a");
    change(rules::LearnOp::push, "b");
    change(rules::LearnOp::set, "c");
    EXPECT_EQ(find(tables, "kernel", 70, 1), "c");
    EXPECT_EQ(tables.entry(kernel, 70, 1)->hidden.size(), 1u);
    change(rules::LearnOp::pop, "");
    EXPECT_EQ(find(tables, "kernel", 70, 1), "a");
    change(rules::LearnOp::pop, "");
    change(rules::LearnOp::pop, "");
    EXPECT_EQ(find(tables, "kernel", 70, 1), "-");
}

TEST_F(Learnt, NumbersAddUp) {
    Tables tables(t.plan);
    TableId file = *tables.table("file");
    Value five{&kI32, 5, {}, false, false};
    tables.apply({file, rules::LearnOp::plus, 70, 3, std::nullopt, five});
    tables.apply({file, rules::LearnOp::plus, 70, 3, std::nullopt, five});
    tables.apply({file, rules::LearnOp::minus, 70, 3, std::nullopt, {&kI32, 3, {}, false, false}});
    EXPECT_EQ(find(tables, "file", 70, 3), "7");
}

TEST_F(Learnt, ManyValuesUnderOneKey) {
    Tables tables(t.plan);
    TableId kernel = *tables.table("kernel");
    auto add = [&](uint64_t key, std::string_view name) {
        tables.apply({kernel, rules::LearnOp::add, 70, key, std::nullopt, text(name)});
    };
    for (const char* name : {"gemm", "relu", "gemm", "c", "d", "gemm", "relu"}) add(1, name);
    EXPECT_EQ(find(tables, "kernel", 70, 1), "gemm x3, relu x2, c x1, and 1 more");
    // A copy shares them until one of the two changes.
    Tables::Change copy{kernel, rules::LearnOp::set, 70, 2};
    copy.from = tables.entry(kernel, 70, 1);
    tables.apply(copy);
    add(1, "relu");
    EXPECT_EQ(find(tables, "kernel", 70, 2), "gemm x3, relu x2, c x1, and 1 more");
    EXPECT_EQ(find(tables, "kernel", 70, 1), "gemm x3, relu x3, c x1, and 1 more");
    Tables::Change both{kernel, rules::LearnOp::add, 70, 2};
    both.from = tables.entry(kernel, 70, 1);
    both.each = true;
    tables.apply(both);
    EXPECT_EQ(tables.entry(kernel, 70, 2)->bag->size(), 15u);
    EXPECT_EQ(find(tables, "kernel", 70, 2), "gemm x6, relu x5, c x2, and 1 more");
}

TEST_F(Learnt, ARangeOfKeys) {
    Tables tables(t.plan);
    TableId kernel = *tables.table("kernel");
    auto range = [&](uint64_t begin, uint64_t end, std::string_view name) {
        tables.apply({kernel, rules::LearnOp::set, 70, begin, end, text(name)});
    };
    range(100, 200, "a");
    range(200, 300, "b");
    EXPECT_EQ(find(tables, "kernel", 70, 99), "-");
    EXPECT_EQ(find(tables, "kernel", 70, 100), "a");
    EXPECT_EQ(find(tables, "kernel", 70, 199), "a");
    EXPECT_EQ(find(tables, "kernel", 70, 200), "b");
    EXPECT_EQ(tables.size(), 2u);
    range(150, 210, "c");  // what lay there before is gone
    EXPECT_EQ(find(tables, "kernel", 70, 120), "-");
    EXPECT_EQ(find(tables, "kernel", 70, 209), "c");
    EXPECT_EQ(find(tables, "kernel", 70, 250), "-");
    tables.apply({kernel, rules::LearnOp::forget, 70, 180});
    EXPECT_EQ(find(tables, "kernel", 70, 160), "-");
    EXPECT_EQ(tables.size(), 0u);
    range(50, 50, "empty");
    EXPECT_EQ(tables.size(), 0u);
}

TEST_F(Learnt, WhatIsNotKnownIsNotLearnt) {
    Tables tables(t.plan);
    plan::ValueType by_name = learnt("kernel");
    tables.learn(*tables.table("kernel"), 70, 1, {&kText, 0, {}, false, true});
    tables.learn(*tables.table("kernel"), 70, 2, {&by_name, 0x1000, {}, false, false});
    tables.learn(*tables.table("kernel"), 70, 3, {&by_name, 0x1000, "gemm", true, false});
    EXPECT_EQ(find(tables, "kernel", 70, 1), "-");
    EXPECT_EQ(find(tables, "kernel", 70, 2), "-");
    EXPECT_EQ(find(tables, "kernel", 70, 3), "gemm");
}

TEST_F(Learnt, AForkCopiesAndAnExecForgetsHandles) {
    Tables tables(t.plan);
    tables.learn(*tables.table("kernel"), 70, 1, text("gemm"));
    tables.learn(*tables.table("file"), 70, 3, text("/etc/passwd"));
    tables.forked(70, 71);
    tables.learn(*tables.table("file"), 70, 4, text("/tmp/x"));
    EXPECT_EQ(find(tables, "kernel", 71, 1), "gemm");
    EXPECT_EQ(find(tables, "file", 71, 4), "-");
    tables.executed(71);
    EXPECT_EQ(find(tables, "kernel", 71, 1), "-");
    EXPECT_EQ(find(tables, "file", 71, 3), "/etc/passwd");
    EXPECT_EQ(tables.size(), 4u);
}

TEST_F(Learnt, APastIsKnownOfProgramsThatWereSeenToBegin) {
    Tables tables(t.plan);
    EXPECT_FALSE(tables.from_start(70)) << "it ran already";
    tables.forked(70, 71);
    EXPECT_FALSE(tables.from_start(71)) << "it goes on with what its parent had";
    tables.executed(71);
    EXPECT_TRUE(tables.from_start(71));
    tables.forked(71, 72);
    EXPECT_TRUE(tables.from_start(72));
    tables.forked(70, 72);
    EXPECT_FALSE(tables.from_start(72)) << "the id is another process's";
}

TEST_F(Learnt, NamesOutliveTheirProcessUntilItsIdIsGivenAgain) {
    Tables tables(t.plan);
    tables.learn(*tables.table("kernel"), 71, 1, text("gemm"));
    tables.exited(71);
    EXPECT_EQ(find(tables, "kernel", 71, 1), "gemm");
    tables.forked(70, 71);
    EXPECT_EQ(find(tables, "kernel", 71, 1), "-");
    EXPECT_EQ(tables.size(), 0u);
}

TEST_F(Learnt, IsBounded) {
    Tables tables(t.plan, 10);
    for (uint64_t key = 0; key < 8; ++key)
        tables.learn(*tables.table("file"), 71, key, text("old"));
    tables.exited(71);
    for (uint64_t key = 0; key < 12; ++key)
        tables.learn(*tables.table("file"), 70, key, text("new"));
    EXPECT_EQ(find(tables, "file", 71, 1), "-");  // made room
    EXPECT_EQ(find(tables, "file", 70, 9), "new");
    EXPECT_EQ(find(tables, "file", 70, 11), "-");
    EXPECT_EQ(tables.refused(), 2u);
    tables.learn(*tables.table("file"), 70, 0, text("again"));
    EXPECT_EQ(find(tables, "file", 70, 0), "again");
    tables.forked(70, 72);
    EXPECT_EQ(find(tables, "file", 72, 0), "-");
    EXPECT_EQ(tables.refused(), 12u);
}

}  // namespace
}  // namespace mlbcc::event
