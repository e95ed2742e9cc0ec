#include <gtest/gtest.h>

#include <fmt/format.h>

#include "describe.h"
#include "parse_text.h"

namespace mlbcc::rules {
namespace {

std::string tree(const std::string& text) {
    Parsed parsed = parse_rules(text);
    std::string out = parsed.messages();
    for (const Rule& rule : parsed.rules.rules) out += describe(rule);
    return out;
}

TEST(Rule, FlagsInAnyOrder) {
    EXPECT_EQ(tree("on entry c:f { count }"), "rule 0 at a.rules:1: entry\n  on c:f\n  count\n");
    EXPECT_EQ(tree("on entry optional c:f { count }"), tree("on optional entry c:f { count }"));
}

TEST(Rule, OfAllProcesses) {
    EXPECT_EQ(tree("on optional all tracepoint:nvidia:* { count }"),
              "rule 0 at a.rules:1: optional all\n  on tracepoint:nvidia:*\n  count\n");
    EXPECT_EQ(tree("library all = \"x.so\"\non all:f { count }"),
              "rule 0 at a.rules:2:\n  on all:f\n  count\n");
}

TEST(Rule, ALibraryMayBeCalledAsAFlag) {
    EXPECT_EQ(tree("library entry = \"x.so\"\non entry:f, c:optional { count }"),
              "rule 0 at a.rules:2:\n  on entry:f\n  on c:optional\n  count\n");
    EXPECT_EQ(tree("library entry = \"x.so\"\non entry entry:f { count }"),
              "rule 0 at a.rules:2: entry\n  on entry:f\n  count\n");
}

TEST(Rule, WordsOfTheLanguageMayBeNames) {
    EXPECT_EQ(tree("on c:on { event count(where = span, by) sum count by as as \"x\" "
                   "learn gauge[event] = stack gauge sum = hist }"),
              R"(rule 0 at a.rules:1:
  on c:on
  event count. {where = span, by = by}
  sum count by as as x
  learn gauge[event] = stack
  gauge sum = hist
)");
}

TEST(Rule, WhatTheTracerKeeps) {
    EXPECT_EQ(
        tree("on c:f {\n  learn t[a] push b\n  learn t[a] pop\n  learn t[u[a]] add each(v[b])\n"
             "  learn t[a] += 1\n  learn t[a : a + b] = 1\n  forget t[a]\n"
             "  gauge g[a] = b by device = d[a] of c\n  gauge g of c = 0\n"
             "  sum a over duration by kind = size(t[a]) > 0 ? \"x\" : \"y\", b as \"l\"\n"
             "  event e(now(g), n = now(g, a))\n}"),
        R"(rule 0 at a.rules:1:
  on c:f
  learn t[a] push b
  learn t[a] pop
  learn t[(u[a])] add each((v[b]))
  learn t[a] += 1
  learn t[a : (a + b)] = 1
  learn t[a] forget
  gauge g[a] = b by device = (d[a]) of c
  gauge g of c = 0
  sum a over duration by kind = ((size((t[a])) > 0) ? "x" : "y"), b as l
  event e. {now(g) = now(g), n = now(g, a)}
)");
}

TEST(Rule, EachIsARuleForEachNumber) {
    const auto of_first_block = [](int rule, int number) {
        return fmt::format("rule {} at a.rules:1:\n  on c:f\n  let i = {}\n  let b = a\n"
                           "  where a\n  where (i < n)\n  stack user\n"
                           "  learn t[(v[i])] = i\n  count by (v[i])\n",
                           rule, number);
    };
    EXPECT_EQ(tree("on c:f {\n where a\n count\n stack user\n"
                   " each i in 0..2 { where i < n  learn t[v[i]] = i  count by v[i] }\n"
                   " let b = a\n each j in 7..8 { sum b * j }\n}"),
              R"(rule 0 at a.rules:1:
  on c:f
  let b = a
  where a
  count
  stack user
)" + of_first_block(1, 0) +
                  of_first_block(2, 1) +
                  R"(rule 3 at a.rules:1:
  on c:f
  let b = a
  let j = 7
  where a
  stack user
  sum (b * j)
)");
    // What stands in `each` only is no rule without it.
    Parsed parsed = parse_rules("on c:f { each i in 1..4 { count by i } } on c:g { count }");
    EXPECT_EQ(parsed.rules.rules.size(), 4u);
    EXPECT_EQ(written_rules(parsed.rules), 2u);
}

TEST(Rule, QuotedTargets) {
    EXPECT_EQ(
        tree("on \"/opt/my lib.so\":\"std::vector<int>::*\" except \"operator new\" { count }"),
        R"(rule 0 at a.rules:1:
  on "/opt/my lib.so":std::vector<int>::*
  except operator new
  count
)");
}

TEST(Rule, Spans) {
    Parsed parsed = parse_rules("on cuda:cu*, c:f except x {\n  count by pid\n}\n");
    const Rule& rule = parsed.rules.rules.at(0);
    EXPECT_EQ(rule.span.text(), "on cuda:cu*, c:f except x {\n  count by pid\n}");
    EXPECT_EQ(rule.head_span.text(), "on cuda:cu*, c:f except x");
    EXPECT_EQ(rule.targets.at(0).span.text(), "cuda:cu*");
    const auto& target = std::get<FunctionTarget>(rule.targets[0].node);
    EXPECT_EQ(target.library_span.text(), "cuda");
    EXPECT_EQ(target.pattern_span.text(), "cu*");
    EXPECT_EQ(rule.except.at(0).span.text(), "x");
    EXPECT_EQ(rule.clauses.at(0).span.text(), "count by pid");
}

TEST(Rule, FieldsWithoutANameAreCalledAsTheyAreWritten) {
    EXPECT_EQ(tree("on c:f { span s(label, p->size, *dptr, a  +\n # why\n b, kernel[f], args) }"),
              R"(rule 0 at a.rules:1:
  on c:f
  span s {label = label, p->size = (p->size), *dptr = (*dptr), a + b = (a + b), kernel[f] = (kernel[f]), args}
)");
}

TEST(Rule, FieldsMayBeEmpty) {
    EXPECT_EQ(tree("on c:f { span s() event e() event a.b }"),
              "rule 0 at a.rules:1:\n  on c:f\n  span s {}\n  event e. {}\n  event a.b {}\n");
}

TEST(Rule, ArgsIsAFieldOnlyWhereItStandsAlone) {
    EXPECT_EQ(tree("on c:f { span s(args = args, x = args->y) }"),
              "rule 0 at a.rules:1:\n  on c:f\n  span s {args = args, x = (args->y)}\n");
}

TEST(Rule, TwoFieldsOfOneName) {
    EXPECT_EQ(messages("on c:f { event e(a, b = a, a = b + 1) span s(args, args) }"),
              R"(error: there are two fields `a`
 --> a.rules:1:28
  |
1 | on c:f { event e(a, b = a, a = b + 1) span s(args, args) }
  |                            ^^^^^^^^^
  = help: give this one another name: `NAME = b + 1`

error: there are two fields `args`
 --> a.rules:1:52
  |
1 | on c:f { event e(a, b = a, a = b + 1) span s(args, args) }
  |                                                    ^^^^
)");
}

TEST(Rule, WhereMayStandTwice) {
    EXPECT_EQ(tree("on c:f { where a count where b }"),
              "rule 0 at a.rules:1:\n  on c:f\n  where a\n  where b\n  count\n");
}

TEST(Rule, GaugeOperators) {
    EXPECT_EQ(tree("on c:f { gauge a = 1 gauge b += 2 gauge c -= 3 gauge d[k] = 4 }"),
              "rule 0 at a.rules:1:\n  on c:f\n  gauge a = 1\n  gauge b += 2\n  gauge c -= 3\n"
              "  gauge d[k] = 4\n");
    EXPECT_EQ(messages("on c:f { gauge g[k] += 1 }"), R"(error: `+=` is for a gauge without a key
 --> a.rules:1:21
  |
1 | on c:f { gauge g[k] += 1 }
  |                     ^^
  = help: use `=`, or remove the key
)");
}

TEST(Rule, Samples) {
    EXPECT_EQ(tree("on c:f { count sample 1/1000 }"),
              "rule 0 at a.rules:1:\n  on c:f\n  count\n  sample 1/1000\n");
    auto sample = [](const std::string& ratio) {
        Parsed parsed = parse_rules("on c:f { count sample " + ratio + " }");
        return parsed.diagnostics.all().at(0).message;
    };
    EXPECT_EQ(sample("1/0"), "`1/0` is not a sample of calls");
    EXPECT_EQ(sample("2/3"), "`2/3` is not a sample of calls");
    EXPECT_EQ(sample("1/10ms"), "`1/10ms` is not a sample of calls");
    EXPECT_EQ(sample("1/4294967296"), "`1/4294967296` is not a sample of calls");
    EXPECT_EQ(sample("10%"), "expected `/`, found `%`");
    EXPECT_EQ(sample("1/"), "expected `1/N`, found `}`");
    EXPECT_EQ(sample("some"), "expected `1/N`, found `some`");
}

TEST(Rule, TwoSamples) {
    EXPECT_EQ(messages("on c:f {\n  count\n  sample 1/2\n  sample 1/3\n}"),
              R"(error: the rule is sampled twice
 --> a.rules:4:3
  |
4 |   sample 1/3
  |   ^^^^^^^^^^
note: the other sample is here
 --> a.rules:3:3
  = help: remove one of them
)");
}

TEST(Rule, AClauseThatStandsTwice) {
    EXPECT_EQ(messages("on c:f {\n  count\n  stack user\n  stack user\n}"),
              R"(warning: `stack user` stands twice in one rule
 --> a.rules:4:3
  |
4 |   stack user
  |   ^^^^^^^^^^
note: the first one is here
 --> a.rules:3:3
  = help: remove one of them
)");
}

TEST(Rule, AFlagThatStandsTwice) {
    EXPECT_EQ(messages("on entry entry c:f { count }"), R"(warning: `entry` stands twice
 --> a.rules:1:10
  |
1 | on entry entry c:f { count }
  |          ^^^^^
)");
}

TEST(Rule, ThatKeepsNothing) {
    const std::string kExpected = R"(warning: the rule records nothing
 --> a.rules:1:1
  |
1 | on c:f {%}
  | ^^^^^^
  = help: add what to record: `span`, `event`, `count`, `sum`, `hist`, `gauge` or `learn`
)";
    for (std::string body : {"", " where a ", " stack user sample 1/2 "}) {
        std::string expected = kExpected;
        expected.replace(expected.find('%'), 1, body);
        EXPECT_EQ(messages("on c:f {" + body + "}"), expected);
    }
}

// ---- targets that are no functions of libraries

TEST(Targets, OfEachKind) {
    for (std::string target :
         {"kernel:nvidia_*", "syscall:openat", "tracepoint:sched:sched_*",
          "usdt:python:function:entry", "usdt:\"./libx.so\":p:n", "sched:off_cpu", "block:io",
          "mem:page_fault", "lock:futex", "net:tcp"}) {
        Parsed parsed = parse_rules("on " + target + " { count }");
        EXPECT_EQ(parsed.messages(), "") << target;
        EXPECT_EQ(describe(parsed.rules.rules.at(0)),
                  "rule 0 at a.rules:1:\n  on " + target + "\n  count\n");
        EXPECT_EQ(parsed.rules.rules.at(0).targets.at(0).span.text(), target);
    }
    Parsed parsed = parse_rules("on interval:1.5ms, syscall:read { count }");
    EXPECT_EQ(describe(parsed.rules.rules.at(0)),
              "rule 0 at a.rules:1:\n  on interval:1500000ns\n  on syscall:read\n  count\n");
}

TEST(Every, IsHowOftenSumsAreLookedAt) {
    Parsed parsed = parse_rules("on c:read { count every 100ms sum ret by fd as \"Read\" every 1s\n"
                                "hist duration every 10ms }");
    EXPECT_EQ(parsed.messages(), "");
    EXPECT_EQ(describe(parsed.rules.rules.at(0)),
              "rule 0 at a.rules:1:\n  on c:read\n  count every 100000000ns\n"
              "  sum ret by fd as Read every 1000000000ns\n  hist duration every 10000000ns\n");
}

TEST(Every, HasItsLimits) {
    EXPECT_EQ(messages("on syscall:read { count every 5ms }"),
              R"(error: `5ms` is too short for `every`
 --> a.rules:1:31
  |
1 | on syscall:read { count every 5ms }
  |                               ^^^
  = help: take `10ms` or more
)");
    auto mistake = [](const std::string& every) {
        return parse_rules("on syscall:read { count every " + every + " }")
            .diagnostics.all()
            .at(0)
            .message;
    };
    EXPECT_EQ(mistake("86401s"), "`86401s` is too long for `every`");
    EXPECT_EQ(mistake("5"), "expected a time, such as `100ms`, found `5`");
    EXPECT_EQ(mistake("often"), "expected a time, such as `100ms`, found `often`");
}

TEST(Targets, HaveASyntax) {
    auto mistake = [](const std::string& target) {
        return parse_rules("on optional " + target + " { count }").diagnostics.all().at(0).message;
    };
    EXPECT_EQ(mistake("kernel:"),
              "expected a name or pattern of functions of the kernel, found `{`");
    EXPECT_EQ(mistake("tracepoint:sched"), "expected `:`, found `{`");
    EXPECT_EQ(mistake("tracepoint:sched:"), "expected the name of a tracepoint, found `{`");
    EXPECT_EQ(mistake("usdt:x:y"), "expected `:`, found `{`");
    EXPECT_EQ(mistake("usdt:5:y"), "expected a library, found `5`");
    EXPECT_EQ(mistake("interval:often"), "expected a time, such as `1s`, found `often`");
    EXPECT_EQ(mistake("interval:5"), "expected a time, such as `1s`, found `5`");
    EXPECT_EQ(mistake("interval:4KiB"), "expected a time, such as `1s`, found `4KiB`");
    EXPECT_EQ(mistake("sched off_cpu"), "expected `:` after `sched`, found `off_cpu`");
    EXPECT_NE(messages("on libc.so.6:malloc { count }")
                  .find("put the name of a file in quotes: `\"libc.so.6\":FUNCTION`"),
              std::string::npos);
}

TEST(Targets, AnIntervalHasItsLimits) {
    EXPECT_EQ(messages("on interval:999us { count }"),
              R"(error: `999us` is too short for an interval
 --> a.rules:1:13
  |
1 | on interval:999us { count }
  |             ^^^^^
  = help: take `1ms` or more
)");
    EXPECT_EQ(messages("on interval:0s { count }"), R"(error: `0s` is too short for an interval
 --> a.rules:1:13
  |
1 | on interval:0s { count }
  |             ^^
  = help: take `1ms` or more
)");
    EXPECT_EQ(messages("on interval:86401s { count }"),
              R"(error: `86401s` is too long for an interval
 --> a.rules:1:13
  |
1 | on interval:86401s { count }
  |             ^^^^^^
  = help: take `86400s` or less
)");
    EXPECT_EQ(messages("on interval:100 { count }"),
              R"(error: expected a time, such as `1s`, found `100`
 --> a.rules:1:13
  |
1 | on interval:100 { count }
  |             ^^^
  = help: a time is a number and `ms` or `s`
)");
    EXPECT_EQ(messages("on interval:1ms, interval:86400s { count }"), "");
}

TEST(Stacks, OfEachKind) {
    Parsed parsed = parse_rules("on c:f { count stack user stack kernel stack python }");
    EXPECT_EQ(parsed.messages(), "");
    EXPECT_EQ(describe(parsed.rules.rules.at(0)),
              "rule 0 at a.rules:1:\n  on c:f\n  count\n  stack user\n  stack kernel\n"
              "  stack python\n");
    EXPECT_EQ(messages("on c:f { count stack all }"),
              R"(error: expected `user`, `kernel` or `python`, found `all`
 --> a.rules:1:22
  |
1 | on c:f { count stack all }
  |                      ^^^
)");
}

}  // namespace
}  // namespace mlbcc::rules
