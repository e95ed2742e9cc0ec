#include "event/gauges.h"

#include <gtest/gtest.h>

#include "event/test_plan.h"

namespace mlbcc::event {
namespace {

using namespace mlbcc::test;
using rules::GaugeOp;

class Held : public testing::Test {
protected:
    Held() {
        plan::ProbeId alloc = t.probe("cuMemAlloc"), depth = t.probe("push");
        uint32_t key = t.number(alloc, End::ret, kHex), size = t.number(alloc, End::ret, kBytes);
        t.gauge(alloc, End::ret, "gpu_bytes", GaugeOp::set, key, size);
        t.gauge(depth, End::ret, "depth", GaugeOp::add, std::nullopt,
                t.number(depth, End::ret, kU32));
        gauges.emplace(t.plan, 5);
    }
    void set(uint64_t key, int64_t value, uint32_t pid = 70, symbols::Stack* stack = nullptr) {
        gauges->apply({gauges->gauge("gpu_bytes"), GaugeOp::set, pid, ++time,
                       Value{&kHex, key, {}, false, false},
                       Value{&kBytes, static_cast<uint64_t>(value), {}, false, false}, stack});
    }
    void change(GaugeOp op, int64_t value) {
        gauges->apply({gauges->gauge("depth"), op, 70, ++time, std::nullopt,
                       Value{&kU32, static_cast<uint64_t>(value), {}, false, false}, nullptr});
    }
    std::vector<std::string> states() const {
        std::vector<std::string> out;
        for (const GaugeState& state : gauges->states()) {
            std::string line =
                fmt::format("{} {}: {} peak {}@{} of {}:", state.name, state.pid, state.value,
                            state.peak, state.peak_time_ns, state.held_count);
            for (const GaugeState::Held& held : state.held)
                line += fmt::format(" {:#x}={}", held.key, held.value);
            out.push_back(line);
        }
        return out;
    }
    using Lines = std::vector<std::string>;
    TestPlan t;
    std::optional<Gauges> gauges;
    uint64_t time = 0;
};

TEST_F(Held, IsTheSumOfWhatIsRemembered) {
    set(0x10, 100);
    set(0x20, 50);
    set(0x10, 0);
    set(0x30, 20);
    EXPECT_EQ(states(), (Lines{"gpu_bytes 70: 70 peak 150@2 of 2: 0x20=50 0x30=20"}));
}

TEST_F(Held, AKeySetAgainIsReplaced) {
    set(0x10, 100);
    set(0x10, 30);
    set(0x99, 0);
    EXPECT_EQ(states(), (Lines{"gpu_bytes 70: 30 peak 100@1 of 1: 0x10=30"}));
}

TEST_F(Held, WithoutAKeyItGoesUpAndDown) {
    change(GaugeOp::add, 3);
    change(GaugeOp::add, 4);
    change(GaugeOp::sub, 5);
    EXPECT_EQ(states(), (Lines{"depth 70: 2 peak 7@2 of 0:"}));
    change(GaugeOp::set, -1);
    EXPECT_EQ(states(), (Lines{"depth 70: -1 peak 7@2 of 0:"}));
}

TEST_F(Held, WhatAProcessHeldAtItsEndStays) {
    set(0x10, 100, 71);
    gauges->process_ended(71);
    set(0x20, 5, 71);
    EXPECT_EQ(states(), (Lines{"gpu_bytes 71: 100 peak 100@1 of 1: 0x10=100",
                               "gpu_bytes 71: 5 peak 5@2 of 1: 0x20=5"}));
}

TEST_F(Held, KeepsTheStackAsLongAsTheEntry) {
    symbols::Stack stack;
    stack.frames = {"libfoo.so:f+0x1", "app:main+0x2"};
    set(0x10, 100, 70, &stack);
    EXPECT_EQ(stack.uses, 2u) << "the entry's, and the peak's";
    EXPECT_EQ(gauges->states()[0].held[0].stack,
              (std::vector<std::string>{"libfoo.so:f+0x1", "app:main+0x2"}));
    set(0x10, 0);
    EXPECT_EQ(stack.uses, 1u) << "the peak's";
    EXPECT_EQ(gauges->states()[0].peak_stack,
              (std::vector<std::string>{"libfoo.so:f+0x1", "app:main+0x2"}));
    set(0x20, 101);
    EXPECT_EQ(stack.uses, 0u);
}

TEST_F(Held, IsToldApartAndGoesWithItsOwner) {
    auto alloc = [&](uint64_t key, uint64_t size, uint64_t device, uint64_t owner) {
        Gauges::Change change{.gauge = gauges->gauge("gpu_bytes"), .op = GaugeOp::set, .pid = 70};
        change.time_ns = ++time;
        change.key = Value{&kHex, key, {}, false, false};
        change.value = Value{&kBytes, size, {}, false, false};
        change.group = Value{&kU32, device, {}, false, false};
        change.owner = Value{&kHex, owner, {}, false, false};
        gauges->apply(change);
    };
    alloc(0x10, 100, 0, 0xa);
    alloc(0x20, 50, 1, 0xb);
    alloc(0x30, 7, 1, 0xa);
    EXPECT_EQ(states(), (Lines{"gpu_bytes 70: 100 peak 100@1 of 1: 0x10=100",
                               "gpu_bytes 70: 57 peak 57@3 of 2: 0x20=50 0x30=7"}));
    EXPECT_EQ(gauges->now(0, 70, std::nullopt), 157);
    EXPECT_EQ(gauges->now(0, 70, Value{&kU32, 1, {}, false, false}), 57);
    EXPECT_EQ(gauges->now(0, 71, std::nullopt), 0);
    set(0x20, 0);  // without saying of which device it was
    EXPECT_EQ(gauges->now(0, 70, Value{&kU32, 1, {}, false, false}), 7);
    alloc(0x30, 9, 0, 0xa);  // the same address, on the other device now
    EXPECT_EQ(gauges->now(0, 70, Value{&kU32, 1, {}, false, false}), 0);
    EXPECT_EQ(gauges->now(0, 70, std::nullopt), 109);
    Gauges::Change release{.gauge = gauges->gauge("gpu_bytes"), .op = GaugeOp::release, .pid = 70};
    release.owner = Value{&kHex, 0xa, {}, false, false};
    gauges->apply(release);
    EXPECT_EQ(gauges->now(0, 70, std::nullopt), 0);
    EXPECT_EQ(states(),
              (Lines{"gpu_bytes 70: 0 peak 109@5 of 0:", "gpu_bytes 70: 0 peak 57@3 of 0:"}));
}

TEST_F(Held, IsBounded) {
    for (uint64_t key = 1; key <= 7; ++key) set(key, 1);
    EXPECT_EQ(gauges->refused(), 2u);
    EXPECT_EQ(gauges->states()[0].value, 5);
    set(1, 0);
    set(8, 1);
    EXPECT_EQ(gauges->refused(), 2u);
}

TEST_F(Held, ShowsTheLargest) {
    gauges.emplace(t.plan, 5000);
    for (uint64_t key = 1; key <= 1500; ++key) set(key, static_cast<int64_t>(key), 71);
    gauges->process_ended(71);
    GaugeState state = gauges->states()[0];
    EXPECT_EQ(state.held.size(), Gauges::kMaxShown);
    EXPECT_EQ(state.held_count, 1500u);
    EXPECT_EQ(state.held[0].value, 1500);
    EXPECT_EQ(state.value, 1500 * 1501 / 2);
}

TEST_F(Held, AKeyHasTheNameThatItHadWhenItWasSet) {
    auto name = [&](std::string_view text) {
        Gauges::Change change{.gauge = gauges->gauge("gpu_bytes"), .op = GaugeOp::set, .pid = 70};
        change.key = Value{&kHex, 0x10, text, !text.empty(), false};
        change.value = Value{&kBytes, 5, {}, false, false};
        gauges->apply(change);
        return gauges->states().at(0).held.at(0).name;
    };
    EXPECT_EQ(name("weights"), "weights");
    EXPECT_EQ(name("cache"), "cache");
    EXPECT_EQ(name(""), "");
}

TEST_F(Held, KnowsRuleAndUnit) {
    set(1, 1);
    GaugeState state = gauges->states()[0];
    EXPECT_EQ(state.unit, rules::Unit::bytes);
    EXPECT_EQ(state.rule, plan::RuleId{0});
}

}  // namespace
}  // namespace mlbcc::event
