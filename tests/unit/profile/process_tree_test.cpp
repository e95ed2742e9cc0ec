#include "profile/process_tree.h"

#include <gtest/gtest.h>

#include "saved/made.h"

namespace mlbcc::profile {
namespace {

using namespace mlbcc::test;

saved::EventFields exit_of(uint64_t time, uint32_t pid, uint32_t tid, int64_t age,
                           int64_t peak = 4096) {
    return event_fields("process", "exit", time, pid, tid,
                        {{"status", int64_t{3}},
                         {"signal", int64_t{0}},
                         {"age", age},
                         {"cpu", int64_t{7}},
                         {"peak_resident", peak},
                         {"parent", int64_t{1}}});
}

TEST(ProcessTree, the_command_begins_with_its_program) {
    ProcessTree tree;
    tree.add(event_fields("process", "command", 90, 10, 10,
                          {{"path", "/bin/a"}, {"arg0", "a"}, {"arg1", "5"}, {"arg3", "unseen"}}));
    tree.add(
        event_fields("process", "exec", 100, 10, 10,
                     {{"path", "/bin/a"}, {"parent", int64_t{9}}, {"peak_before", int64_t{9000}}}));
    tree.add(exit_of(500, 10, 10, 450, 8000));
    std::vector<ProcessLife> lives = tree.lives(600);
    ASSERT_EQ(lives.size(), 1u);
    const ProcessLife& life = lives[0];
    EXPECT_EQ(life.parent, 9u);
    EXPECT_EQ(life.begin_ns, 100u);
    EXPECT_EQ(life.end_ns, 500u);
    EXPECT_TRUE(life.ended);
    EXPECT_EQ(life.exit_status, 3);
    EXPECT_EQ(life.cpu_ns, 7u);
    EXPECT_FALSE(life.peak_resident.has_value()) << "the launcher's was larger";
    ASSERT_EQ(life.programs.size(), 1u);
    EXPECT_EQ(life.programs[0].path, "/bin/a");
    EXPECT_EQ(life.programs[0].arguments, (std::vector<std::string>{"a", "5"}));
    ASSERT_EQ(life.threads.size(), 1u);
    EXPECT_EQ(life.threads[0].begin_ns, 100u);
}

// Those of the new program's own stack, but of a script, where they are its interpreter's.
TEST(ProcessTree, arguments_are_known_that_could_not_be_read_when_they_were_asked_for) {
    using Texts = std::vector<std::string>;
    const auto arguments = [](const saved::EventFields& command, const saved::EventFields& exec) {
        ProcessTree tree;
        tree.add(command);
        tree.add(exec);
        return tree.lives(600).at(0).programs.at(0).arguments;
    };
    const auto command = [](const Arguments& more) {
        return event_fields("process", "command", 90, 10, 10, more);
    };
    const auto exec = [](const Arguments& more) {
        return event_fields("process", "exec", 100, 10, 10, more);
    };
    EXPECT_EQ(arguments(command({}), exec({{"arg0", "a"}, {"arg1", "5"}})), (Texts{"a", "5"}));
    EXPECT_EQ(arguments(command({{"arg0", "a"}}), exec({{"arg0", "a"}, {"arg1", "5"}})),
              (Texts{"a", "5"}));
    EXPECT_EQ(arguments(command({{"arg0", "./job"}, {"arg1", "5"}}),
                        exec({{"arg0", "/bin/sh"}, {"arg1", "./job"}, {"arg2", "5"}})),
              (Texts{"./job", "5"}));
    EXPECT_EQ(arguments(command({{"arg0", "a"}, {"arg1", "5"}}), exec({})), (Texts{"a", "5"}));
}

TEST(ProcessTree, what_was_used_before_is_not_its_own) {
    ProcessTree tree;
    tree.add(event_fields("process", "exec", 100, 10, 10,
                          {{"path", "/bin/sh"}, {"cpu_before", int64_t{3}}}));
    tree.add(event_fields("process", "exec", 200, 10, 10,
                          {{"path", "/bin/a"}, {"cpu_before", int64_t{5}}}));
    tree.add(exit_of(500, 10, 10, 450));
    tree.add(event_fields("process", "clone", 210, 10, 10, {{"child", int64_t{20}}}));
    tree.add(event_fields("process", "exec", 220, 20, 20,
                          {{"path", "/bin/b"}, {"cpu_before", int64_t{4}}}));
    tree.add(exit_of(400, 20, 20, 190));
    tree.add(exit_of(450, 30, 31, 451));
    std::vector<ProcessLife> lives = tree.lives(600);
    ASSERT_EQ(lives.size(), 3u);
    EXPECT_EQ(lives[0].pid, 30u);
    EXPECT_TRUE(lives[0].threads[0].is_older);
    EXPECT_EQ(lives[1].pid, 10u);
    EXPECT_EQ(lives[1].cpu_ns, 4u) << "from the first program on";
    EXPECT_FALSE(lives[1].threads[0].is_older);
    EXPECT_EQ(lives[2].cpu_ns, 7u) << "all of it: it was made in the trace";
}

TEST(ProcessTree, a_number_that_is_used_again_is_another_process) {
    ProcessTree tree;
    auto clone = [&](uint64_t time, int64_t child) {
        tree.add(event_fields("process", "clone", time, 10, 10, {{"child", child}}));
    };
    tree.add(event_fields("process", "exec", 50, 10, 10, {{"path", "/bin/sh"}}));
    clone(100, 20);
    tree.add(event_fields("process", "exec", 110, 20, 20, {{"path", "/bin/a"}}));
    tree.add(exit_of(200, 20, 20, 95));
    clone(300, 20);
    tree.add(event_fields("process", "exec", 310, 20, 20, {{"path", "/bin/b"}}));
    tree.add(exit_of(400, 20, 20, 95));
    clone(500, 20);  // a thread, this time
    tree.add(exit_of(550, 10, 20, 45));
    std::vector<ProcessLife> lives = tree.lives(600);
    ASSERT_EQ(lives.size(), 3u);
    EXPECT_EQ(lives[0].threads.size(), 1u);
    for (size_t i : {1, 2}) {
        EXPECT_EQ(lives[i].pid, 20u);
        EXPECT_EQ(lives[i].parent, 10u);
        EXPECT_EQ(lives[i].programs.size(), 1u);
        EXPECT_EQ(lives[i].threads.size(), 1u);
        EXPECT_EQ(lives[i].cpu_ns, 7u);
    }
    EXPECT_EQ(lives[1].programs[0].path, "/bin/a");
    EXPECT_EQ(std::pair(lives[1].begin_ns, lives[1].end_ns),
              std::pair(uint64_t{105}, uint64_t{200}));
    EXPECT_EQ(std::pair(lives[2].begin_ns, lives[2].end_ns),
              std::pair(uint64_t{305}, uint64_t{400}));
    EXPECT_FALSE(lives[0].threads[0].shares_number);
    EXPECT_TRUE(lives[1].threads[0].shares_number);
    EXPECT_TRUE(lives[2].threads[0].shares_number);
}

TEST(ProcessTree, a_peak_below_that_of_the_program_before_is_the_one_that_was_seen) {
    ProcessTree tree;
    tree.add(event_fields("process", "exec", 100, 10, 10,
                          {{"path", "/bin/a"}, {"peak_before", int64_t{9000}}}));
    tree.add(event_fields("process", "memory", 200, 10, 10, {{"peak", int64_t{700}}}));
    tree.add(event_fields("process", "memory", 250, 10, 10, {{"peak", int64_t{750}}}));
    tree.add(exit_of(500, 10, 10, 450, 9000));
    EXPECT_EQ(tree.lives(600)[0].peak_resident, 750u);
}

TEST(ProcessTree, a_child_begins_as_it_is_made_and_has_its_maker_for_parent) {
    ProcessTree tree;
    tree.add(event_fields("process", "exec", 100, 10, 10, {{"path", "/bin/a"}}));
    tree.add(event_fields("file", "open", 300, 11, 11));
    tree.add(exit_of(400, 11, 11, 150));
    tree.add(event_fields("process", "clone", 240, 10, 10, {{"child", int64_t{11}}}));
    std::vector<ProcessLife> lives = tree.lives(600);
    ASSERT_EQ(lives.size(), 2u);
    EXPECT_EQ(lives[1].pid, 11u);
    EXPECT_EQ(lives[1].parent, 10u);
    EXPECT_EQ(lives[1].begin_ns, 250u);
    EXPECT_EQ(lives[1].peak_resident, 4096u);
    EXPECT_FALSE(lives[0].ended);
    EXPECT_EQ(lives[0].end_ns, 600u);
}

TEST(ProcessTree, threads_add_up_and_are_no_processes) {
    ProcessTree tree;
    tree.add(event_fields("process", "exec", 100, 10, 10, {{"path", "/bin/a"}}));
    tree.add(event_fields("process", "clone", 200, 10, 10, {{"child", int64_t{12}}}));
    tree.add(exit_of(300, 10, 12, 90));
    tree.add(exit_of(400, 10, 10, 350));
    std::vector<ProcessLife> lives = tree.lives(600);
    ASSERT_EQ(lives.size(), 1u);
    EXPECT_EQ(lives[0].cpu_ns, 14u);
    ASSERT_EQ(lives[0].threads.size(), 2u);
    EXPECT_EQ(lives[0].threads[0].tid, 10u);
    EXPECT_EQ(lives[0].threads[1].tid, 12u);
    EXPECT_EQ(lives[0].threads[1].begin_ns, 210u);
}

TEST(ProcessTree, who_ran_before_begins_with_the_trace) {
    ProcessTree tree;
    tree.add(event_fields("file", "open", 300, 11, 11));
    std::vector<ProcessLife> lives = tree.lives(600);
    ASSERT_EQ(lives.size(), 1u);
    EXPECT_EQ(lives[0].begin_ns, 0u);
    EXPECT_EQ(lives[0].name, "python3");
}

}  // namespace
}  // namespace mlbcc::profile
