#include "profile/findings.h"

#include <fcntl.h>

#include <gtest/gtest.h>

#include "profile/finding_text.h"
#include "saved/made.h"

namespace mlbcc::profile {
namespace {

using namespace mlbcc::test;

ProcessLife life(uint32_t pid, uint32_t parent, uint64_t begin_ns) {
    ProcessLife made;
    made.pid = pid;
    made.parent = parent;
    made.begin_ns = begin_ns;
    return made;
}

saved::EventFields write_of(std::string_view path, uint64_t time_ns = 50) {
    return event_fields(
        "finding", "write", time_ns, 10, 10,
        {{"severity", "medium"}, {"what", "wrote {path}"}, {"path", path}, {"not_in", ".:~/.c"}});
}

std::vector<std::string> found(const Findings& findings, const Surroundings& where = {}) {
    std::vector<std::string> made;
    for (const Finding& one : findings.report({life(10, 1, 5)}, where).findings) {
        made.push_back(one.what);
    }
    return made;
}

TEST(Findings, a_rule_says_what_it_is) {
    Findings findings;
    saved::EventFields one = event_fields("finding", "odd", 30, 10, 11,
                                          {{"severity", "high"},
                                           {"what", "did {what_it_did} to {port:x} and {nothing}"},
                                           {"why", "Because."},
                                           {"what_it_did", "this"},
                                           {"port", int64_t{255}}});
    one.stack = {"a.py:f", "a.py:<module>"};
    findings.add(one);
    findings.add(one);
    FindingReport report = findings.report({life(10, 1, 5)}, {});
    ASSERT_EQ(report.findings.size(), 1u);
    const Finding& finding = report.findings[0];
    EXPECT_EQ(finding.severity, Severity::high);
    EXPECT_EQ(finding.kind, "odd");
    EXPECT_EQ(finding.what, "did this to ff and {nothing}");
    EXPECT_EQ(finding.why, "Because.");
    EXPECT_EQ(finding.times, 2u);
    EXPECT_EQ(finding.time_ns, 30u);
    EXPECT_EQ(finding.tid, 11u);
    EXPECT_EQ(finding.thread, "python3");
    EXPECT_EQ(finding.stack, (std::vector<std::string>{"a.py:f", "a.py:<module>"}));
    using Values = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(finding.values, (Values{{"what_it_did", "this"}, {"port", "255"}}));
    EXPECT_TRUE(report.reaches(Severity::high));
}

TEST(Findings, what_was_opened_before_decides_also_in_a_child) {
    Findings findings;
    auto program = [](uint64_t time, uint32_t pid) {
        return event_fields("finding", "program", time, pid, pid,
                            {{"severity", "low"}, {"after_weights", "high"}});
    };
    saved::EventFields clone =
        event_fields("process", "clone", 60, 10, 10, {{"child", int64_t{20}}});
    clone.stack = {"a.py:load"};
    findings.add(program(40, 10));
    findings.add(program(55, 20));  // before its maker has returned
    findings.add(event_fields("file", "open", 50, 10, 10,
                              {{"path", "/m/evil.pkl"}, {"flags", int64_t{O_RDONLY}}}));
    findings.add(clone);
    findings.add(program(60, 30));
    FindingReport report =
        findings.report({life(10, 1, 5), life(20, 10, 52), life(30, 10, 45)}, {});
    ASSERT_EQ(report.findings.size(), 3u);
    EXPECT_EQ(report.findings[0].pid, 20u);
    EXPECT_EQ(report.findings[0].severity, Severity::high);
    EXPECT_EQ(report.findings[0].weights, "/m/evil.pkl");
    EXPECT_EQ(report.findings[0].stack, std::vector<std::string>{"a.py:load"});
    EXPECT_EQ(report.findings[1].pid, 10u);
    EXPECT_EQ(report.findings[1].severity, Severity::low);
    EXPECT_EQ(report.findings[1].weights, "");
    EXPECT_EQ(report.findings[2].pid, 30u) << "it was made before the weights were opened";
    EXPECT_EQ(report.findings[2].severity, Severity::low);
}

TEST(Findings, that_the_command_begins_is_none) {
    Findings findings;
    findings.add(event_fields("finding", "program", 5, 10, 10));
    findings.add(event_fields("finding", "program", 6, 10, 10));
    EXPECT_EQ(findings.report({life(10, 1, 5)}, {}).findings.size(), 0u);
    EXPECT_EQ(findings.report({life(10, 1, 4)}, {}).findings.size(), 1u);
}

TEST(Findings, places_where_it_may_be_are_none) {
    Findings findings;
    for (const char* path :
         {"in", "/work/sub/../a", "/work2/a", "/home/u/.c/x", "/home/u/.cc", "../out", "/work"}) {
        findings.add(write_of(path));
    }
    EXPECT_EQ(found(findings, {"/work", "/home/u"}),
              (std::vector<std::string>{"wrote /work2/a", "wrote /home/u/.cc", "wrote ../out"}));
    EXPECT_EQ(found(findings).size(), 6u) << "nothing is known but that `in` is no absolute path";
}

TEST(Findings, relative_paths_begin_where_the_process_went) {
    Findings findings;
    findings.add(write_of("a", 20));
    findings.add(event_fields("process", "folder", 30, 10, 10, {{"path", "/etc"}}));
    findings.add(write_of("b", 40));
    findings.add(event_fields("process", "folder", 50, 10, 10, {{"path", "../work/x"}}));
    findings.add(write_of("c", 60));
    saved::EventFields beside = write_of("d", 70);
    beside.arguments.push_back({"relative_to", int64_t{7}});
    findings.add(beside);
    beside = write_of("e", 80);
    beside.arguments.push_back({"relative_to", int64_t{AT_FDCWD}});
    findings.add(beside);
    EXPECT_EQ(found(findings, {"/work", ""}), (std::vector<std::string>{"wrote b", "wrote d"}));
}

TEST(Findings, lists_of_a_rule) {
    Findings findings;
    auto add = [&](const char* list, const char* module) {
        findings.add(event_fields("finding", "pickle", 50, 10, 10,
                                  {{"what", "{list} {module}"},
                                   {"list", list},
                                   {"of", "{module}.f"},
                                   {list, "os.*:builtins.f"},
                                   {"module", module}}));
    };
    for (const char* module : {"os", "builtins", "collections"}) {
        add("only", module);
        add("except", module);
    }
    EXPECT_EQ(found(findings),
              (std::vector<std::string>{"only os", "only builtins", "except collections"}));
}

TEST(Findings, the_worst_are_first_and_too_many_are_counted) {
    Findings findings;
    for (int64_t i = 0; i < 2005; ++i) {
        findings.add(
            event_fields("finding", "a", 50, 10, 10,
                         {{"severity", i == 3 ? "medium" : "low"}, {"what", "{i}"}, {"i", i}}));
    }
    FindingReport report = findings.report({life(10, 1, 5)}, {});
    EXPECT_EQ(report.findings.size(), 2000u);
    EXPECT_EQ(report.left_out, 5u);
    EXPECT_EQ(report.findings[0].what, "3");
    EXPECT_EQ(report.worst(), Severity::medium);
    EXPECT_FALSE(report.reaches(Severity::high));
    EXPECT_FALSE(FindingReport().reaches(Severity::info));
}

TEST(FindingText, lists_of_folders) {
    EXPECT_TRUE(lies_in("/tmp/a", "/var:/tmp", "", ""));
    EXPECT_FALSE(lies_in("/tmpx/a", "/var:/tmp", "", ""));
    EXPECT_TRUE(lies_in("/a/__pycache__/b.pyc", "*/__pycache__/*", "", ""));
    EXPECT_FALSE(lies_in("/a", ".:~", "", ""));
    EXPECT_EQ(absolute("b/../c", "/a"), "/a/c");
    EXPECT_EQ(absolute("b", ""), "");
    EXPECT_EQ(absolute("/a/./b/", ""), "/a/b");
}

}  // namespace
}  // namespace mlbcc::profile
