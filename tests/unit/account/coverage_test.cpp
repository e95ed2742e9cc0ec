// Which functions of a library were called, and when nothing is said of it.
#include "account/coverage.h"

#include <deque>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "event/test_plan.h"

namespace mlbcc::account {
namespace {

using namespace mlbcc::test;

class Covered : public ::testing::Test {
protected:
    plan::ProbeId probe(const std::string& symbol) {
        plan::ProbeId id = t.probe(symbol);
        auto& probe = t.plan.probes[static_cast<uint32_t>(id)];
        auto target = *probe.probe;
        std::get<target::UserFunction>(target.at).path = "/lib/libcuda.so.1";
        probe.probe = &targets.emplace_back(target);
        return id;
    }
    plan::ProbeId with_span(const std::string& symbol) {
        plan::ProbeId id = probe(symbol);
        t.span(id, "userspace");
        return id;
    }
    plan::RulePart& part(plan::ProbeId id) {
        return t.plan.probes[static_cast<uint32_t>(id)].parts[0];
    }
    // "libcuda.so.1 3: cuInit cuMemAlloc, ended"
    std::string text(const Coverage& coverage, const std::vector<plan::ProbeId>& refused = {}) {
        std::string out;
        for (const sink::LibraryCoverage& one : coverage.libraries(refused, losses)) {
            out += one.library + " " + std::to_string(one.functions) + ":";
            for (const std::string& name : one.called) out += " " + name;
            if (one.ended) out += ", ended";
        }
        return out;
    }

    TestPlan t;
    std::deque<target::Probe> targets;
    std::vector<sink::RuleLoss> losses{{"cuda.rules:1"}};
};

TEST_F(Covered, ByTheEventsOfFunctionsThatAlwaysHaveOne) {
    with_span("cuMemFree");
    plan::ProbeId alloc = with_span("cuMemAlloc");
    with_span("cuInit");
    Coverage coverage(t.plan);
    EXPECT_EQ(text(coverage), "libcuda.so.1 3:");
    coverage.called(alloc);
    EXPECT_EQ(text(coverage), "libcuda.so.1 3: cuMemAlloc");
}

TEST_F(Covered, WhatIsKnownAtTheEndOnlyIsSaid) {
    plan::ProbeId alloc = probe("cuMemAlloc"), free = probe("cuMemFree");
    t.event(alloc, End::ret, "memory", "alloc");
    t.event(free, End::ret, "memory", "free");
    Coverage coverage(t.plan);
    coverage.called(alloc);
    EXPECT_EQ(text(coverage), "libcuda.so.1 2: cuMemAlloc, ended");
    coverage.called(free);
    EXPECT_EQ(text(coverage), "libcuda.so.1 2: cuMemAlloc cuMemFree") << "nothing is open";
}

TEST_F(Covered, NothingIsSaidWhereACallMayHaveLeftNoTrace) {
    plan::ProbeId alloc = with_span("cuMemAlloc"), init = with_span("cuInit");
    Coverage coverage(t.plan);
    part(alloc).sample = 10;
    EXPECT_EQ(text(coverage), "") << "a sample";
    part(alloc) = {plan::RuleId{}};
    part(alloc).late_where = true;
    EXPECT_EQ(text(coverage), "") << "a condition";
    coverage.called(alloc);
    EXPECT_EQ(text(coverage), "libcuda.so.1 2: cuMemAlloc") << "it was called all the same";
    losses[0].lost = 1;
    EXPECT_EQ(text(coverage), "") << "a loss";
    coverage.called(init);
    EXPECT_EQ(text(coverage), "libcuda.so.1 2: cuInit cuMemAlloc");
}

TEST_F(Covered, ByCountsOfFunctions) {
    plan::ProbeId alloc = probe("cuMemAlloc"), init = probe("cuInit");
    plan::Aggregate count;
    count.by = {{"pid", {kU64, 0, 8}}, {"function", {{Kind::function, 8}, 8, 8}}};
    t.plan.aggregates.push_back(count);
    for (plan::ProbeId id : {alloc, init}) {
        auto& planned = t.plan.probes[static_cast<uint32_t>(id)];
        planned.parts.push_back({plan::RuleId{}});
        planned.aggregates.push_back({plan::AggregateId{0}, 1});
    }
    Coverage coverage(t.plan);
    uint64_t key[2] = {70, static_cast<uint64_t>(init)};
    coverage.called(count, std::as_bytes(std::span(key)));
    EXPECT_EQ(text(coverage), "libcuda.so.1 2: cuInit, ended");
    t.plan.aggregates[0].by.pop_back();
    EXPECT_EQ(text(coverage), "") << "a count of all functions together";
}

TEST_F(Covered, OnlyFunctionsThatAreTraced) {
    plan::ProbeId alloc = with_span("cuMemAlloc"), init = with_span("cuInit");
    t.span(t.probe("cuExpected"), "userspace");  // of a library that is not there
    Coverage coverage(t.plan);
    coverage.called(init);
    EXPECT_EQ(text(coverage, {alloc}), "libcuda.so.1 1: cuInit");
}

TEST_F(Covered, AFunctionAtTwoPlacesIsOne) {
    with_span("cuInit");
    plan::ProbeId other = with_span("cuInit");
    Coverage coverage(t.plan);
    coverage.called(other);
    EXPECT_EQ(text(coverage), "libcuda.so.1 1: cuInit");
}

}  // namespace
}  // namespace mlbcc::account
