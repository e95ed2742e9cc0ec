// Values that the tracer computes, and what pipelines do with them.
#include "event/late_value.h"

#include <gtest/gtest.h>

#include "event/test_plan.h"

namespace mlbcc::event {
namespace {

using namespace mlbcc::test;
using rules::BinaryOp;
using rules::LearnOp;
using rules::LearntAs;

plan::LatePtr late(decltype(plan::Late::node) node, plan::ValueType type = {Kind::signed_int, 8}) {
    return TestPlan::late(std::move(node), std::move(type));
}
plan::LatePtr number(uint64_t bits) {
    return late(plan::LateNumber{bits});
}
plan::LatePtr text(std::string is) {
    return late(plan::LateText{std::move(is)}, kText);
}

// Records of `use(key, value)`: the table `names` has what was learnt for keys.
class Computed : public testing::Test {
protected:
    Computed() {
        use = t.probe("use");
        key = t.number(use, End::ret, kU64);
        value = t.number(use, End::ret, {Kind::signed_int, 8});
        t.learn(use, End::ret, "names", key, value, 2);
        t.gauge(use, End::ret, "held", rules::GaugeOp::add, std::nullopt, value, 4);
    }
    plan::LatePtr field(uint32_t index) { return t.late(use, End::ret, index); }
    plan::LatePtr known(plan::LatePtr of, LearntAs as) {
        return late(plan::LateLearnt{"names", std::move(of), as},
                    as == LearntAs::text ? kText : plan::ValueType{Kind::signed_int, 8});
    }
    plan::LatePtr two(BinaryOp op, plan::LatePtr a, plan::LatePtr b) {
        bool is_signed = a->type.kind == Kind::signed_int && b->type.kind == Kind::signed_int;
        return late(plan::LateBinary{op, std::move(a), std::move(b), is_signed});
    }
    // What `event e(x = ...)` shows of one record.
    std::string shown(plan::LatePtr of, uint64_t key_is, int64_t value_is) {
        plan::EventEmit emit{"e", "", {}};
        emit.fields.push_back({"x", 0, ~0u, std::move(of)});
        t.emit(use, End::ret, std::move(emit));
        pipeline.emplace(t.plan, lines);
        pipeline->add(0, record(10, key_is, value_is, 1));
        pipeline->finish();
        std::string line = lines.lines.back();
        t.record(use, End::ret).emits.pop_back();
        return line.substr(line.find("x=") + 2);
    }
    Wire record(uint64_t time, uint64_t key_is, int64_t value_is, uint32_t hits) {
        return Wire::ret(use, time, time + 1, hits)
            .number(key_is)
            .number(static_cast<uint64_t>(value_is));
    }
    void run(std::vector<Wire> records) {
        pipeline.emplace(t.plan, lines);
        for (Wire& one : records) pipeline->add(0, one);
        pipeline->finish();
    }
    TestPlan t;
    plan::ProbeId use{};
    uint32_t key = 0, value = 0;
    Lines lines;
    std::optional<Pipeline> pipeline;
};

TEST_F(Computed, Arithmetic) {
    EXPECT_EQ(shown(two(BinaryOp::add, field(value), number(2)), 0, -5), "-3");
    EXPECT_EQ(shown(two(BinaryOp::div, field(value), number(2)), 0, -5), "-2");
    EXPECT_EQ(shown(two(BinaryOp::mod, field(value), number(3)), 0, -5), "-2");
    EXPECT_EQ(shown(two(BinaryOp::div, field(value), number(0)), 0, -5), "0");
    EXPECT_EQ(shown(two(BinaryOp::mod, field(value), number(0)), 0, -5), "0");
    EXPECT_EQ(shown(two(BinaryOp::div, field(value), number(UINT64_MAX)), 0, INT64_MIN),
              std::to_string(INT64_MIN));
    EXPECT_EQ(shown(two(BinaryOp::lt, field(value), number(0)), 0, -5), "1");
    EXPECT_EQ(shown(two(BinaryOp::gt, field(key), number(5)), UINT64_MAX, 0), "1") << "unsigned";
    EXPECT_EQ(shown(two(BinaryOp::shr, field(value), number(1)), 0, -4), "-2");
    EXPECT_EQ(shown(late(plan::LateUnary{rules::UnaryOp::logical_not, field(value)}), 0, 7), "0");
    EXPECT_EQ(
        shown(late(plan::LateConditional{field(value), text("many"), text("none")}, kText), 0, 7),
        "many");
}

TEST_F(Computed, WhatIsNotKnownIsNothing) {
    EXPECT_EQ(shown(two(BinaryOp::add, known(field(key), LearntAs::number), number(1)), 8, 0), "1");
    EXPECT_EQ(shown(two(BinaryOp::eq, known(field(key), LearntAs::text), text("")), 8, 0), "1");
    EXPECT_EQ(shown(known(field(key), LearntAs::size), 8, 0), "0");
    EXPECT_EQ(shown(known(known(field(key), LearntAs::number), LearntAs::shown), 8, 0), "null");
}

TEST_F(Computed, AConditionTakesTheCallOut) {
    plan::RuleId other = t.rule("cuda.rules:2");
    t.event(use, End::ret, "e", "", {{"value", value}}, 1, other);
    t.gauge(use, End::ret, "sum", rules::GaugeOp::add, std::nullopt, value, 1);
    t.emit(use, End::ret,
           plan::ConditionEmit{two(BinaryOp::ne, known(field(key), LearntAs::number), number(0))});
    // Known from the second call on; the third is of another key.
    run({record(10, 1, 100, 1 | 2), record(20, 1, 20, 1), record(30, 2, 7, 1)});
    ASSERT_EQ(lines.lines.size(), 1u);
    EXPECT_NE(lines.lines[0].find("value=20"), std::string::npos);
    int64_t sum = 0;
    for (const GaugeState& state : pipeline->gauges()) sum += state.name == "sum" ? state.value : 0;
    EXPECT_EQ(sum, 20) << "the record's other item is taken out, too";
}

TEST_F(Computed, TalliesOfWhatIsKnown) {
    plan::Aggregate count{.id = static_cast<plan::AggregateId>(0)};
    count.in_tracer = true;
    t.plan.aggregates.push_back(count);
    plan::TallyEmit tally{
        count.id, {known(field(key), LearntAs::number)}, field(value), number(10)};
    t.emit(use, End::ret, std::move(tally), 1);
    run({record(10, 1, 5, 1 | 2), record(20, 1, 3, 1), record(30, 2, 7, 1)});
    std::string text;
    for (const TallyGroup& group : pipeline->tallied(count.id)) {
        text += fmt::format("{}: {} of {} from {} to {} over {}; ", group.by.at(0).bits, group.sum,
                            group.count, group.min, group.max, group.over_ns);
    }
    EXPECT_EQ(text, "0: 7 of 1 from 7 to 7 over 10; 5: 8 of 2 from 3 to 5 over 20; ");
}

TEST_F(Computed, EachOfManyIsAGroup) {
    plan::Aggregate count{.id = static_cast<plan::AggregateId>(0)};
    count.in_tracer = true;
    t.plan.aggregates.push_back(count);
    t.emit(use, End::ret, plan::LearnEmit{"bag", LearnOp::add, field(key), nullptr, field(value)},
           8);
    plan::LatePtr each =
        late(plan::LateLearnt{"bag", field(key), LearntAs::each}, plan::ValueType{Kind::text});
    t.emit(use, End::ret, plan::TallyEmit{count.id, {each}, nullptr, nullptr}, 1);
    run({record(10, 1, 5, 8), record(20, 1, 6, 8), record(30, 1, 5, 8), record(40, 1, 0, 1),
         record(50, 1, 0, 1), record(60, 2, 0, 1)});
    std::string text;
    for (const TallyGroup& group : pipeline->tallied(count.id)) {
        text += fmt::format("{}: {}; ", group.by.at(0).bits, group.count);
    }
    EXPECT_EQ(text, "5: 4; 6: 2; ");
}

TEST_F(Computed, AGaugeAsItIsNow) {
    plan::EventEmit emit{"e", "", {}};
    emit.fields.push_back({"x", 0, ~0u, late(plan::LateNow{"held", nullptr})});
    t.emit(use, End::ret, std::move(emit), 1);
    run({record(10, 1, 100, 4), record(20, 1, 0, 1)});
    EXPECT_NE(lines.lines.at(0).find("x=100"), std::string::npos);
}

}  // namespace
}  // namespace mlbcc::event
