#include "phases/gpu_steps.h"

#include <string_view>

#include <gtest/gtest.h>

namespace mlbcc::phases {
namespace {

constexpr uint32_t kCopy = 1, kWait = 2, kLoad = 3, kSave = 4, kLaunch = 5;

// "c" copies, "w" waits, "l" loads code, "s" saves, "k" launches; a digit is so many times ten
// nanoseconds without a call. Each call takes two.
class Made {
public:
    Made& calls(std::string_view text, uint32_t tid = 1) {
        for (char one : text) {
            if (one >= '0' && one <= '9') {
                time_ += 10 * static_cast<uint64_t>(one - '0');
                continue;
            }
            add(one, tid);
        }
        return *this;
    }
    Made& times(int count, std::string_view text) {
        for (int i = 0; i < count; ++i) calls(text);
        return *this;
    }
    uint64_t time() const { return time_; }
    std::optional<GpuSteps> steps(uint64_t from_ns = 0) const { return find_steps(made_, from_ns); }

private:
    void add(char one, uint32_t tid) {
        using Kind = GpuCallKind;
        auto [kind, name] = one == 'c'   ? std::pair(Kind::submit, kCopy)
                            : one == 's' ? std::pair(Kind::submit, kSave)
                            : one == 'w' ? std::pair(Kind::wait, kWait)
                            : one == 'k' ? std::pair(Kind::launch, kLaunch)
                                         : std::pair(Kind::load, kLoad);
        made_.push_back({kind, {time_, time_ + 2}, tid, name});
        time_ += 2;
    }
    uint64_t time_ = 100;
    std::vector<GpuCall> made_;
};

TEST(FindSteps, from_a_copy_to_the_wait) {
    Made made;
    made.calls("l5l5");
    uint64_t begin_ns = made.time();
    made.times(10, "c3k3w1");
    std::optional<GpuSteps> found = made.steps();
    ASSERT_TRUE(found);
    ASSERT_EQ(found->steps.size(), 10u);
    EXPECT_EQ(found->steps.front().begin_ns, begin_ns);
    EXPECT_EQ(found->steps[1].begin_ns, begin_ns + 76);
    EXPECT_EQ(found->steps[0].end_ns, found->steps[1].begin_ns);
    EXPECT_EQ(found->steps.back().end_ns, made.time() - 10);
    EXPECT_EQ(found->calls, (std::vector<uint32_t>{kCopy, kWait}));
    EXPECT_EQ(found->first, 0u);
}

TEST(FindSteps, several_copies_are_one_step_and_other_calls_now_and_then_are_no_end_of_it) {
    Made made;
    for (int i = 0; i < 20; ++i) made.calls(i % 5 == 4 ? "cccc5wss9" : "cccc5w");
    std::optional<GpuSteps> found = made.steps();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->steps.size(), 20u);
    EXPECT_EQ(found->calls.size(), 5u);
    // Saving belongs to the step that it follows; what comes behind the first of its calls, to no
    // other one.
    EXPECT_EQ(found->steps[0].begin_ns, 100u);
    EXPECT_EQ(found->steps[0].end_ns, found->steps[1].begin_ns);
}

TEST(FindSteps, of_waits_alone) {
    Made waits;
    waits.calls("l9l9").times(8, "k4w");
    std::optional<GpuSteps> found = waits.steps();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->steps.size(), 8u);
    // As long as the others: where the first began, no call says.
    EXPECT_EQ(found->steps[0].end_ns - found->steps[0].begin_ns, 44u);
}

TEST(FindSteps, the_first_ones_that_load_code_and_take_longer_are_a_first_run) {
    Made made;
    made.calls("c9l9w").calls("c9l9w").times(10, "c3w").calls("c9l9w");
    std::optional<GpuSteps> found = made.steps();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->steps.size(), 13u);
    EXPECT_EQ(found->first, 2u);
}

TEST(FindSteps, a_slow_first_one_that_loads_nothing_is_a_step) {
    std::optional<GpuSteps> found = Made().calls("c9w").times(10, "c3w").steps();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->first, 0u);
}

TEST(FindSteps, none_where_nothing_repeats) {
    EXPECT_FALSE(Made().steps());
    EXPECT_FALSE(Made().times(3, "cw").steps());
    EXPECT_FALSE(Made().times(100, "k").steps());
    EXPECT_FALSE(Made().times(100, "c1k").steps());
    // A burst, and then nothing that comes again.
    EXPECT_FALSE(Made().calls("cccccccccc9999w").steps());
    EXPECT_FALSE(Made().times(10, "cw").calls("9999s9999s").steps());
    EXPECT_FALSE(Made().calls("cwccwcccwccccwcccccwccccccw").steps());
}

TEST(FindSteps, copies_before_the_first_launch_are_no_steps) {
    Made made;
    made.times(100, "cw");
    uint64_t from_ns = made.time();
    made.times(20, "c4k4w");
    EXPECT_EQ(made.steps()->steps.size(), 120u);
    EXPECT_EQ(made.steps(from_ns)->steps.size(), 20u);
    EXPECT_EQ(made.steps(from_ns)->steps.front().begin_ns, from_ns);
    // The first step's own copy may be.
    EXPECT_EQ(made.steps(from_ns + 3)->steps.front().begin_ns, from_ns);
}

TEST(FindSteps, of_the_thread_that_calls_most) {
    Made made;
    for (int i = 0; i < 10; ++i) {
        made.calls("c3w");
        if (i % 3 == 0) made.calls("ss", 2);
    }
    std::optional<GpuSteps> found = made.steps();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->steps.size(), 10u);
    EXPECT_EQ(found->calls, (std::vector<uint32_t>{kCopy, kWait}));
}

std::vector<TimeRange> spans_of(const std::vector<uint64_t>& lengths) {
    std::vector<TimeRange> spans;
    uint64_t time = 0;
    for (uint64_t length : lengths) {
        spans.push_back({time, time + length});
        time += length;
    }
    return spans;
}

std::vector<size_t> numbers_of(const std::vector<SlowStep>& steps) {
    std::vector<size_t> numbers;
    for (const SlowStep& step : steps) numbers.push_back(step.number);
    return numbers;
}

TEST(StepTimes, the_slow_ones_make_up_what_was_lost) {
    std::vector<uint64_t> lengths(100, 100);
    lengths[24] = 5000;
    lengths[49] = 6000;
    lengths[50] = 250;  // slow, but of no weight
    StepTimes times = times_of(spans_of(lengths));
    EXPECT_EQ(times.median_ns, 100u);
    EXPECT_EQ(times.longest_ns, 6000u);
    EXPECT_EQ(numbers_of(times.slow), (std::vector<size_t>{49, 24}));
}

TEST(StepTimes, slow_ones_that_are_alike_are_all_told) {
    std::vector<uint64_t> lengths(200, 100);
    for (size_t i = 9; i < lengths.size(); i += 10) lengths[i] = 1000 + i % 3;
    EXPECT_EQ(times_of(spans_of(lengths)).slow.size(), 20u);
}

TEST(StepTimes, no_slow_ones_where_little_was_lost) {
    std::vector<uint64_t> lengths(1000, 100);
    lengths[3] = 500;
    EXPECT_TRUE(times_of(spans_of(lengths)).slow.empty());
    EXPECT_TRUE(times_of({}).slow.empty());
}

}  // namespace
}  // namespace mlbcc::phases
