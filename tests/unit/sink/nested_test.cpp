// Where the time of calls went: each moment counts once, for the innermost call.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "event/test_plan.h"
#include "sink/sink.h"

namespace mlbcc::sink {
namespace {

using namespace mlbcc::test;
using event::Phase;

class Nested : public testing::Test {
protected:
    Nested() {
        for (const char* name : {"cuInit", "cuMemAlloc"}) t_.span(t_.probe(name), "userspace");
        t_.span(t_.probe("ioctl"), "nvidia");
        t_.event(t_.probe("off_cpu"), End::ret, "sched", "off_cpu");
        t_.event(static_cast<plan::ProbeId>(1), End::ret, "memory", "alloc");
        nested_ = make_nested_times(t_.plan);
        clauses_ = event::clauses(t_.plan);
    }

    const event::EmitClause& clause(const std::string& function, Phase phase) const {
        return *std::ranges::find_if(clauses_, [&](const event::EmitClause& one) {
            return one.probe->function == function && one.phase == phase;
        });
    }
    event::Event made(const std::string& function, Phase phase, uint64_t time, uint32_t tid) {
        const event::EmitClause& from = clause(function, phase);
        event::Event one;
        one.id = ++last_;
        one.phase = phase;
        one.probe = from.probe;
        one.emit = from.emit;
        one.time_ns = time;
        one.tid = tid;
        return one;
    }
    // A call that is there from its beginning; what `inside` gives lies in it.
    void call(const std::string& function, uint64_t from, uint64_t to, auto&& inside,
              std::optional<uint64_t> parent = std::nullopt, uint32_t tid = 1) {
        event::Event begin = made(function, Phase::begin, from, tid);
        begin.parent = parent;
        nested_->event(begin);
        inside(begin.id);
        event::Event end = made(function, Phase::end, to, tid);
        end.begin = begin.id;
        end.duration_ns = to - from;
        nested_->event(end);
    }
    void whole(const std::string& function, uint64_t from, uint64_t to,
               std::optional<uint64_t> parent, uint32_t tid = 1) {
        event::Event one = made(function, Phase::complete, from, tid);
        one.parent = parent;
        one.duration_ns = to - from;
        nested_->event(one);
    }

    std::string times() const {
        std::string text;
        for (const NestedTime& one : nested_->times()) {
            text += fmt::format("{} {}x {} itself {}", one.function, one.calls, one.total_ns,
                                one.itself_ns);
            for (const auto& [layer, ns] : one.inside) text += fmt::format(" {} {}", layer, ns);
            text += "\n";
        }
        return text;
    }

    TestPlan t_;
    std::unique_ptr<NestedTimes> nested_;
    std::vector<event::EmitClause> clauses_;
    uint64_t last_ = 0;
};

TEST_F(Nested, EachMomentBelongsToTheInnermost) {
    call("cuInit", 1000, 2000, [&](uint64_t init) {
        call(
            "ioctl", 1100, 1600,
            [&](uint64_t ioctl) {
                whole("off_cpu", 1200, 1400, ioctl);
                whole("off_cpu", 1500, 1550, ioctl);
            },
            init);
        whole("off_cpu", 1700, 1800, init);
    });
    EXPECT_EQ(times(), "cuInit 1x 1000 itself 400 sched.off_cpu 350 nvidia 250\n");
}

TEST_F(Nested, CallsOfTheSameLayerAreTheFunctionsOwnTime) {
    call("cuInit", 0, 1000, [&](uint64_t init) {
        call(
            "cuMemAlloc", 100, 900,
            [&](uint64_t alloc) {
                call(
                    "ioctl", 200, 300, [](uint64_t) {}, alloc);
            },
            init);
    });
    EXPECT_EQ(times(), "cuInit 1x 1000 itself 900 nvidia 100\n");
}

TEST_F(Nested, AnEventOfTheCallItselfIsNotInIt) {
    call("cuMemAlloc", 0, 500, [&](uint64_t alloc) {
        whole("cuMemAlloc", 0, 500, alloc);
        call(
            "ioctl", 100, 200, [](uint64_t) {}, alloc);
    });
    EXPECT_EQ(times(), "cuMemAlloc 1x 500 itself 400 nvidia 100\n");
}

// A long wait is written when it is over: behind shorter ones that lie in it, or before.
TEST_F(Nested, TheOrderOfWritingDoesNotMatter) {
    call("cuInit", 0, 100, [&](uint64_t init) {
        whole("off_cpu", 60, 65, init);
        call(
            "ioctl", 10, 90, [](uint64_t) {}, init);
        whole("off_cpu", 20, 50, init);
    });
    EXPECT_EQ(times(), "cuInit 1x 100 itself 20 nvidia 45 sched.off_cpu 35\n");
}

TEST_F(Nested, ThreadsAreApartAndCallsAddUp) {
    call("cuInit", 0, 100, [&](uint64_t init) {
        call(
            "cuMemAlloc", 50, 80,
            [&](uint64_t alloc) {
                call(
                    "ioctl", 60, 70, [](uint64_t) {}, alloc, 2);
            },
            std::nullopt, 2);
        whole("off_cpu", 10, 20, init);
        whole("off_cpu", 10, 90, std::nullopt, 3);
    });
    call("cuInit", 200, 300, [&](uint64_t init) {
        call(
            "ioctl", 210, 250, [](uint64_t) {}, init);
    });
    EXPECT_EQ(times(), "cuInit 2x 200 itself 150 nvidia 40 sched.off_cpu 10\n"
                       "cuMemAlloc 1x 30 itself 20 nvidia 10\n");
}

TEST_F(Nested, ACallThatNeverEndsCountsForNothing) {
    nested_->event(made("cuInit", Phase::begin, 0, 1));
    whole("off_cpu", 10, 20, 1);
    call("cuMemAlloc", 100, 200, [&](uint64_t alloc) {
        call(
            "ioctl", 110, 150, [](uint64_t) {}, alloc);
    });
    event::Event end = made("cuInit", Phase::end, 300, 1);
    end.duration_ns = 300;
    nested_->event(end);
    EXPECT_EQ(times(), "cuMemAlloc 1x 100 itself 60 nvidia 40\n");
}

TEST_F(Nested, ACallWithTooManyInsideIsLeftOut) {
    call("cuInit", 0, 1'000'000, [&](uint64_t init) {
        for (uint64_t i = 0; i < (1 << 16) + 1; ++i) whole("off_cpu", 10 * i, 10 * i + 5, init);
    });
    EXPECT_EQ(times(), "");
}

TEST_F(Nested, FunctionsWithNothingInsideAreNotListed) {
    call("cuInit", 0, 100, [](uint64_t) {});
    EXPECT_EQ(times(), "");
}

}  // namespace
}  // namespace mlbcc::sink
