// What a person gets wrong, and what is said of it: messages are whole.
#include <gtest/gtest.h>

#include "describe.h"
#include "parse_text.h"

namespace mlbcc::rules {
namespace {

TEST(Mistakes, AnUnknownClause) {
    EXPECT_EQ(messages("on c:f {\n\tcuont by pid\n}"), R"(error: `cuont` is not a clause
 --> a.rules:2:2
  |
2 |     cuont by pid
  |     ^^^^^
  = help: a clause with a similar name exists: `count`
)");
    EXPECT_EQ(messages("on c:f { print size }"), R"(error: `print` is not a clause
 --> a.rules:1:10
  |
1 | on c:f { print size }
  |          ^^^^^
  = help: write `event`
  = note: the clauses are `where`, `let`, `span`, `event`, `count`, `sum`, `hist`, `largest`, `gauge`, `learn`, `forget`, `trace`, `stack`, `sample`, `each`
)");
}

TEST(Mistakes, OfEach) {
    auto said = [](const std::string& body) {
        const std::string all = messages("on c:f {\n" + body + "\n}");
        return all.substr(0, all.find('\n'));
    };
    EXPECT_EQ(said("each i in 0..n { count }"), "error: expected a number, found `n`");
    EXPECT_EQ(said("each i in 0..17 { count }"), "error: 0..17 is more than 16 numbers");
    EXPECT_EQ(said("each i in 3..3 { count }"), "error: there is no number in 3..3");
    EXPECT_EQ(said("each i in 0 { count }"), "error: expected `..`, found `{`");
    EXPECT_EQ(said("each i in 0..2 { each j in 0..2 { count } }"),
              "error: `each` cannot stand in `each`");
    EXPECT_EQ(said("each i in 0..2 { event a.b(i) }"), "error: `event` cannot stand in `each`");
    EXPECT_EQ(said("each i in 0..2 { count by j"), "error: the rule is not closed");
    EXPECT_EQ(said("let i = 1 each i in 0..2 { count by i }"), "error: `i` is already defined");
    EXPECT_EQ(said("sample 1/2 each i in 0..2 { count by i }"),
              "error: `sample` cannot stand in a rule with `each`");
    EXPECT_EQ(messages("on c:f { each i in 0..2 { sum x + } }"),
              R"(error: expected an expression, found `}`
 --> a.rules:1:35
  |
1 | on c:f { each i in 0..2 { sum x + } }
  |                                   ^
)");
}

TEST(Mistakes, AnAssignmentInAnExpression) {
    EXPECT_EQ(messages("on c:f { where ret = 0 count }"), R"(error: `=` does not compare
 --> a.rules:1:20
  |
1 | on c:f { where ret = 0 count }
  |                    ^
  = help: write `==`
)");
}

TEST(Mistakes, ASemicolon) {
    EXPECT_EQ(messages("on c:f { count; }"), R"(error: expected a clause, found `;`
 --> a.rules:1:15
  |
1 | on c:f { count; }
  |               ^
  = help: remove it: clauses need no `;`
)");
}

TEST(Mistakes, AMissingBraceBeforeTheNextRule) {
    EXPECT_EQ(messages("on c:f {\n  count\n\non c:g { count }\n"), R"(error: the rule is not closed
 --> a.rules:1:1
  |
1 | on c:f {
  | ^^^^^^ its `{` has no `}`
note: the next statement begins before it ends
 --> a.rules:4:1
)");
}

TEST(Mistakes, AMissingBraceAtTheEnd) {
    EXPECT_EQ(messages("on c:f {\n  count\n"), R"(error: the rule is not closed
 --> a.rules:1:1
  |
1 | on c:f {
  | ^^^^^^ its `{` has no `}`
)");
}

TEST(Mistakes, AnExpressionThatEndsWithTheFile) {
    EXPECT_EQ(messages("on c:f {\n  where a ==  # what?\n"),
              R"(error: expected an expression, found the end of the file
 --> a.rules:2:13
  |
2 |   where a ==  # what?
  |             ^

error: the rule is not closed
 --> a.rules:1:1
  |
1 | on c:f {
  | ^^^^^^ its `{` has no `}`
)");
}

TEST(Mistakes, AMissingOpeningBrace) {
    Parsed parsed = parse_rules("on c:f count by pid }\non c:g { count }");
    EXPECT_EQ(parsed.messages(), R"(error: expected `,`, `except` or `{`, found `count`
 --> a.rules:1:8
  |
1 | on c:f count by pid }
  |        ^^^^^
)");
    EXPECT_EQ(describe(parsed.rules.rules.at(0)),
              "rule 0 at a.rules:1:\n  on c:f\n  count by pid\n");
    EXPECT_EQ(parsed.rules.rules.size(), 2u);
}

TEST(Mistakes, ABraceTooMany) {
    EXPECT_EQ(messages("on c:f { count }\n}\non c:g { count }"),
              R"(error: expected a statement, found `}`
 --> a.rules:2:1
  |
2 | }
  | ^ closes nothing
)");
}

TEST(Mistakes, AllProcessesForMoreThanAMoment) {
    EXPECT_EQ(messages("on all tracepoint:sched:*, syscall:read { count }"),
              R"(error: `all` is for tracepoints only
 --> a.rules:1:28
  |
1 | on all tracepoint:sched:*, syscall:read { count }
  |                            ^^^^^^^^^^^^
  = help: remove `all`, and trace every process with `mlbcc --all`
)");
}

TEST(Mistakes, AnUnknownLibrary) {
    EXPECT_EQ(messages("on cude:cuInit { count }"), R"(error: there is no library `cude`
 --> a.rules:1:4
  |
1 | on cude:cuInit { count }
  |    ^^^^ not known here
  = help: a library with a similar name exists: `cuda`
)");
    EXPECT_EQ(messages("on nccl:ncclSend { count }"), R"(error: there is no library `nccl`
 --> a.rules:1:4
  |
1 | on nccl:ncclSend { count }
  |    ^^^^ not known here
  = help: define it: `library nccl = "libnccl.so"`
)");
}

TEST(Mistakes, ATargetWithoutALibrary) {
    EXPECT_EQ(messages("on cuInit { count }"), R"(error: `cuInit` is neither a `set` nor a target
 --> a.rules:1:4
  |
1 | on cuInit { count }
  |    ^^^^^^
  = help: a target is a library and its functions: `LIBRARY:FUNCTION`
)");
    EXPECT_EQ(messages("on { count }"), R"(error: expected a library and its functions, found `{`
 --> a.rules:1:4
  |
1 | on { count }
  |    ^
)");
}

TEST(Mistakes, APatternWithOtherCharacters) {
    EXPECT_EQ(messages("on c:std:sort { count }"),
              R"(error: expected `,`, `except` or `{`, found `:`
 --> a.rules:1:9
  |
1 | on c:std:sort { count }
  |         ^
  = help: put a name with other characters in quotes: `LIBRARY:"NAME"`
)");
    EXPECT_EQ(messages("on c:cu[A { count }"), R"(error: `[` is not closed in the pattern
 --> a.rules:1:8
  |
1 | on c:cu[A { count }
  |        ^
  = help: put `]` behind the set
)");
    EXPECT_EQ(messages("on c:\"\" { count }"),
              R"(error: expected a name or pattern of functions, found an empty string
 --> a.rules:1:6
  |
1 | on c:"" { count }
  |      ^^
)");
}

TEST(Mistakes, AStringThatIsNotClosed) {
    EXPECT_EQ(messages("on c:f {\n  count as \"calls\n  sum size\n}"),
              R"(error: the string is not closed
 --> a.rules:2:12
  |
2 |   count as "calls
  |            ^^^^^^
  = help: put `"` at its end
)");
}

TEST(Mistakes, ACommentThatIsNotClosed) {
    EXPECT_EQ(messages("on c:f { count }\n/* the rest\n"), R"(error: the comment is not closed
 --> a.rules:2:1
  |
2 | /* the rest
  | ^^
  = help: put `*/` at its end
)");
}

TEST(Mistakes, EachClauseNeedsItsParts) {
    auto first = [](const std::string& clause) {
        Parsed parsed = parse_rules("on c:f { " + clause + " }");
        return parsed.diagnostics.all().at(0).message;
    };
    EXPECT_EQ(first("where"), "expected an expression, found `}`");
    EXPECT_EQ(first("span"), "expected the type of the span, found `}`");
    EXPECT_EQ(first("span 5"), "expected the type of the span, found `5`");
    EXPECT_EQ(first("span s(a"), "expected `,` or `)`, found `}`");
    EXPECT_EQ(first("span s(a,)"), "expected an expression, found `)`");
    EXPECT_EQ(first("event"), "expected the type of the event, found `}`");
    EXPECT_EQ(first("event a."), "expected the name of the event, found `}`");
    EXPECT_EQ(first("count by"), "expected an expression, found `}`");
    EXPECT_EQ(first("count by a,"), "expected an expression, found `}`");
    EXPECT_EQ(first("count as label"), "expected a label in quotes, found `label`");
    EXPECT_EQ(first("count as \"\""), "expected a label in quotes, found an empty string");
    EXPECT_EQ(first("sum"), "expected an expression, found `}`");
    EXPECT_EQ(first("hist by a"), "`a` is not a clause");
    EXPECT_EQ(first("gauge"), "expected the name of the gauge, found `}`");
    EXPECT_EQ(first("gauge g"), "expected `=`, `+=` or `-=`, found `}`");
    EXPECT_EQ(first("gauge g[] = 1"), "expected an expression, found `]`");
    EXPECT_EQ(first("gauge g *= 2"), "expected `=`, `+=` or `-=`, found `*=`");
    EXPECT_EQ(first("learn t = 1"), "expected `[`, found `=`");
    EXPECT_EQ(first("learn t[k]"), "expected `=`, `+=`, `-=`, `add`, `push` or `pop`, found `}`");
    EXPECT_EQ(first("stack"), "expected `user`, `kernel` or `python`, found `}`");
    EXPECT_EQ(first("stack java"), "expected `user`, `kernel` or `python`, found `java`");
    EXPECT_EQ(first("(count)"), "expected a clause or `}`, found `(`");
}

// Each message's first line, with the line of its place: one a mistake, none for what follows it.
std::string all(const std::string& text) {
    Parsed parsed = parse_rules(text);
    std::string out;
    for (const Diagnostic& d : parsed.diagnostics.all()) {
        out += std::to_string(d.span.where().line) + ": " + d.message + "\n";
    }
    return out;
}

TEST(Recovery, EveryMistakeOfAFileIsShownOnce) {
    EXPECT_EQ(all(R"(libary x = "x.so"
header cuda.h
on c:f {
    where ret = 0 && (a
    cuont by pid
    event memory.(size)
    gauge g[k = 1
    sum size as label   hist duration
    stack usr
    sample 1/0
}
on cude:f, c: { count }
on c:g { count if (a) { count } sum + }
int f(int a) { return a; }
on x:y { count }
library z "z.so"
on c:h { event e(a b) count by pid pid }
)"),
              R"(1: `libary` is not a statement
2: expected the name of a C header in quotes, found `cuda`
4: `=` does not compare
5: `cuont` is not a clause
6: expected the name of the event, found `(`
7: `=` does not compare
8: expected a label in quotes, found `label`
9: expected `user`, `kernel` or `python`, found `usr`
10: `1/0` is not a sample of calls
12: expected a name or pattern of functions, found `{`
13: `if` is not a clause
13: expected an expression, found `}`
14: a function with its code cannot stand in a rule file
16: expected `=` after `z`, found `"z.so"`
17: expected `,` or `)`, found `b`
17: `pid` is not a clause
12: there is no library `cude`
)");
}

TEST(Recovery, ClausesBehindAMistakeAreKept) {
    Parsed parsed = parse_rules("on c:f {\n  where (a b\n  count\n  sum )\n  hist size\n}");
    EXPECT_EQ(describe(parsed.rules.rules.at(0)),
              "rule 0 at a.rules:1:\n  on c:f\n  count\n  hist size\n");
}

TEST(Recovery, FieldsOnSeveralLines) {
    EXPECT_EQ(all("on c:f {\n  event e(a = 1\n    b = 2,\n    c = 3)\n  cuont\n}"),
              "3: expected `,` or `)`, found `b`\n5: `cuont` is not a clause\n");
}

// Nobody reads the hundredth error, and a file of rubbish must not take long.
TEST(Recovery, RubbishEndsSoon) {
    std::string rules, clauses;
    for (int i = 0; i < 20'000; ++i) rules += "onn c:f { cuont ) }\n";
    for (int i = 0; i < 20'000; ++i) clauses += "cuont\n";
    Parsed parsed = parse_rules(rules);
    EXPECT_EQ(parsed.diagnostics.error_count(), 101u);
    EXPECT_TRUE(parsed.messages().ends_with("error: 81 more errors\n"));
    EXPECT_EQ(parse_rules("on c:f {\n" + clauses + "}").diagnostics.error_count(), 101u);
}

}  // namespace
}  // namespace mlbcc::rules
