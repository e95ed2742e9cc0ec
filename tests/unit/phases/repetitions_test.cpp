#include "phases/repetitions.h"

#include <gtest/gtest.h>

#include "phases/moves_cut.h"
#include "phases/phase_use.h"

#include "saved/made.h"

namespace mlbcc::phases {
namespace {

using namespace mlbcc::test;

constexpr int64_t kMiB = 1 << 20;

std::vector<MemoryMove> moves_of(std::initializer_list<int64_t> sizes, uint64_t first_ns = 0) {
    std::vector<MemoryMove> moves;
    for (int64_t size : sizes) moves.push_back({first_ns + 10 * moves.size(), size});
    return moves;
}

TEST(FindPeriod, the_shortest_that_repeats) {
    std::vector<MemoryMove> moves = moves_of({8, -8, 8, -8, 8, -8, 8, -8, 8});
    std::optional<Period> period = find_period(moves);
    ASSERT_TRUE(period);
    EXPECT_EQ(period->first, 0u);
    EXPECT_EQ(period->length, 2u);
    EXPECT_EQ(period->count, 4u);
}

TEST(FindPeriod, what_comes_before_it_is_left_out_and_it_begins_with_memory_that_is_taken) {
    std::optional<Period> period =
        find_period(moves_of({3, 5, -8, 4, 6, -8, 4, 6, -8, 4, 6, -8, 4, 6, -8, 4, 6}));
    ASSERT_TRUE(period);
    EXPECT_EQ(period->first, 3u);
    EXPECT_EQ(period->length, 3u);
    EXPECT_EQ(period->count, 4u);
}

TEST(FindPeriod, three_times_are_none_and_neither_is_what_is_a_small_part) {
    EXPECT_FALSE(find_period(moves_of({8, -8, 8, -8, 8, -8})));
    EXPECT_FALSE(find_period(moves_of({1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8})));
    EXPECT_FALSE(find_period({}));
}

std::vector<TimeRange> repetitions_of(size_t count) {
    std::vector<TimeRange> spans;
    for (uint64_t i = 0; i < count; ++i) spans.push_back({1000 + 100 * i, 1100 + 100 * i});
    return spans;
}

// `leak` bytes more after each repetition, seen by looks that are not in step with them.
std::vector<MemoryLook> looks_of(size_t repetitions, uint64_t leak, uint64_t noise) {
    std::vector<MemoryLook> looks;
    for (uint64_t time = 0; time < 1000 + 100 * repetitions; time += 37) {
        uint64_t done = time < 1000 ? 0 : (time - 1000) / 100;
        looks.push_back({time, 500 * kMiB + done * leak + (looks.size() % 3) * noise});
    }
    return looks;
}

TEST(MemoryGrowth, of_a_leak_is_told_within_five_percent) {
    std::optional<MemoryGrowth> growth =
        growth_of(repetitions_of(30), looks_of(30, 1'000'000, 50'000));
    ASSERT_TRUE(growth);
    EXPECT_TRUE(growth->grows);
    EXPECT_NEAR(growth->bytes_a_repetition, 1e6, 5e4);
    EXPECT_EQ(growth->repetitions, 28u);
}

TEST(MemoryGrowth, is_none_where_memory_only_goes_up_and_down) {
    std::optional<MemoryGrowth> growth = growth_of(repetitions_of(30), looks_of(30, 0, 4 * kMiB));
    ASSERT_TRUE(growth);
    EXPECT_FALSE(growth->grows);
}

TEST(MemoryGrowth, of_less_than_looks_are_off_by_is_none) {
    std::optional<MemoryGrowth> growth = growth_of(repetitions_of(30), looks_of(30, 1000, 0));
    ASSERT_TRUE(growth);
    EXPECT_FALSE(growth->grows);
}

TEST(MemoryGrowth, of_few_repetitions_is_not_known) {
    EXPECT_FALSE(growth_of(repetitions_of(9), looks_of(9, 1'000'000, 0)));
    EXPECT_FALSE(growth_of(repetitions_of(30), {}));
}

TEST(MovesCut, frees_after_loading_and_at_the_end_are_parted_by_the_longest_time_between) {
    std::vector<MemoryMove> moves = {{10, 4},   {20, 4},   {30, 4},   {110, -4},
                                     {120, -4}, {900, -4}, {910, -4}, {950, -4}};
    MovesCut cut = cut_moves(moves, 100);
    EXPECT_EQ(cut.loaded_ns, 120u);
    EXPECT_EQ(cut.freed_after_loading, 8u);
    EXPECT_EQ(cut.cleanup_ns, 900u);
    EXPECT_EQ(cut.freed_at_end, 12u);
    EXPECT_TRUE(cut.between.empty());
}

TEST(MovesCut, without_moves_there_is_no_cleanup) {
    MovesCut cut = cut_moves({{10, 4}}, 100);
    EXPECT_EQ(cut.loaded_ns, 100u);
    EXPECT_FALSE(cut.cleanup_ns);
}

TEST(MovesCut, what_a_repetition_gives_back_is_no_cleanup) {
    std::vector<MemoryMove> moves = moves_of({8, -8, 8, -8, 8, -8, 8, -8, 8, -8, -64, -2}, 200);
    MovesCut cut = cut_moves(moves, 100);
    EXPECT_EQ(cut.loaded_ns, 100u);
    EXPECT_EQ(cut.cleanup_ns, 300u);
    EXPECT_EQ(cut.freed_at_end, 66u);
    EXPECT_EQ(cut.between.size(), 10u);
    moves.resize(10);
    EXPECT_FALSE(cut_moves(moves, 100).cleanup_ns);
}

saved::EventFields look(uint64_t time, int64_t resident, int64_t cpu, int64_t read) {
    return event_fields("process", "memory", time, 1, 1,
                        {{"resident", resident},
                         {"anonymous", resident / 2},
                         {"cpu_time", cpu},
                         {"read_chars", read},
                         {"written_chars", int64_t{0}}});
}

TEST(LookHistory, sums_are_cut_between_looks_and_memory_is_that_of_looks) {
    LookHistory looks;
    looks.add(look(100, 1000, 50, 0));
    looks.add(look(200, 4000, 150, 1000));
    looks.add(look(300, 3000, 250, 1000));
    looks.add(look(400, 500, 350, 3000));
    std::optional<PhaseUse> use = looks.used({150, 350}, 0);
    ASSERT_TRUE(use);
    EXPECT_EQ(use->cpu_ns, 200u);
    EXPECT_EQ(use->read_bytes, 1500u);
    EXPECT_EQ(use->memory_growth_bytes, -1000);
    EXPECT_EQ(use->peak_resident_bytes, 4000u);
    EXPECT_EQ(looks.used({0, 50}, 0)->cpu_ns, 25u);
    EXPECT_EQ(looks.used({0, 50}, std::nullopt)->cpu_ns, 0u);
    EXPECT_FALSE(looks.used({0, 50}, 0)->memory_growth_bytes);
    EXPECT_FALSE(LookHistory().used({0, 50}, 0));
}

TEST(LookHistory, counters_are_those_that_looks_have) {
    LookHistory looks;
    for (int64_t i = 1; i <= 3; ++i) {
        saved::EventFields one = look(static_cast<uint64_t>(100 * i), 1000, 0, 0);
        one.arguments.push_back({"cycles", 50 * i});
        one.arguments.push_back({"instructions", 100 * i});
        looks.add(one);
    }
    std::optional<CpuCounters> counters = looks.used({150, 300}, 0)->counters;
    ASSERT_TRUE(counters);
    EXPECT_EQ(counters->cycles, 75u);
    EXPECT_EQ(counters->instructions, 150u);
    EXPECT_FALSE(counters->branch_misses);
    LookHistory without;
    without.add(look(100, 1000, 0, 0));
    EXPECT_FALSE(without.used({0, 100}, 0)->counters);
}

TEST(LookHistory, of_too_many_looks_every_other_goes) {
    LookHistory looks(4);
    for (int64_t i = 0; i < 10; ++i) looks.add(look(static_cast<uint64_t>(i), 2 * i, i, 0));
    std::vector<uint64_t> times;
    for (const MemoryLook& one : looks.anonymous()) times.push_back(one.time_ns);
    EXPECT_EQ(times, (std::vector<uint64_t>{0, 4, 8}));
}

}  // namespace
}  // namespace mlbcc::phases
