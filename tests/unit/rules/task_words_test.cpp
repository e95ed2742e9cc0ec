#include <gtest/gtest.h>

#include "rules/ctypes.h"
#include "rules/parse_text.h"

namespace mlbcc::test {
namespace {

TEST(TaskWords, AreTheFieldsThatRulesMayMean) {
    const rules::Parsed parsed = rules::parse_rules(
        "on cuda:f { where task->real_parent->tgid > 1   count by (*p).size as \"task->mm\" }\n");
    const rules::TaskWords words = rules::task_words(parsed.rules);
    EXPECT_TRUE(words.names_task);
    EXPECT_EQ(words.members, (std::set<std::string, std::less<>>{"real_parent", "tgid", "size"}));
}

TEST(TaskWords, AFieldIsNoTask) {
    const rules::Parsed parsed = rules::parse_rules("on cuda:f { count by p->task }\n");
    EXPECT_FALSE(rules::task_words(parsed.rules).names_task);
}

}  // namespace
}  // namespace mlbcc::test
