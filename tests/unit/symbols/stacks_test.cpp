#include "symbols/stacks.h"

#include <gtest/gtest.h>

namespace mlbcc::symbols {
namespace {

using Addresses = std::vector<uint64_t>;
using Frames = std::vector<std::string>;

TEST(StackTable, KeepsEachOnce) {
    StackTable table;
    Stack* stack = table.add(1, Addresses{1, 2}, Frames{"a", "bc"});
    ASSERT_NE(stack, nullptr);
    EXPECT_EQ(table.find(1, Addresses{1, 2}), stack);
    EXPECT_EQ(table.find(2, Addresses{1, 2}), nullptr);
    EXPECT_EQ(table.find(1, Addresses{1}), nullptr);
    EXPECT_EQ(stack->frames, (std::vector<std::string_view>{"a", "bc"}));
}

TEST(StackTable, DropsWhatNobodyUsesWhenItIsFull) {
    StackTable table(3);
    Stack* used = table.add(1, Addresses{0}, Frames{"used"});
    StackTable::retain(used);
    table.add(1, Addresses{1}, Frames{"x"});
    table.add(1, Addresses{2}, Frames{"x"});
    EXPECT_NE(table.add(1, Addresses{3}, Frames{"x"}), nullptr);
    EXPECT_EQ(table.size(), 2u);
    EXPECT_EQ(table.find(1, Addresses{0}), used);
    EXPECT_EQ(table.find(1, Addresses{1}), nullptr);
}

TEST(StackTable, RefusesWhenAllAreInUse) {
    StackTable table(2);
    for (uint64_t i = 0; i < 2; ++i) StackTable::retain(table.add(1, Addresses{i}, Frames{}));
    EXPECT_EQ(table.add(1, Addresses{9}, Frames{}), nullptr);
    EXPECT_EQ(table.refused(), 1u);
}

}  // namespace
}  // namespace mlbcc::symbols
