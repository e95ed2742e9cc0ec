#include "text/diagnostic.h"

#include <gtest/gtest.h>

namespace mlbcc {
namespace {

// The first `what` in the text of `file`.
Span find(const SourceFile& file, std::string_view what) {
    auto begin = static_cast<uint32_t>(file.text().find(what));
    return {&file, begin, begin + static_cast<uint32_t>(what.size())};
}

TEST(SourceFile, PositionsOfOffsets) {
    SourceFile file("a.rules", "one\ntwo\r\n\nfour");
    auto at = [&](uint32_t offset) {
        auto [line, column] = file.position(offset);
        return std::pair(line, column);
    };
    EXPECT_EQ(at(0), std::pair(1u, 1u));
    EXPECT_EQ(at(3), std::pair(1u, 4u));
    EXPECT_EQ(at(4), std::pair(2u, 1u));
    EXPECT_EQ(at(9), std::pair(3u, 1u));
    EXPECT_EQ(at(10), std::pair(4u, 1u));
    EXPECT_EQ(at(14), std::pair(4u, 5u));
    EXPECT_EQ(at(999), std::pair(4u, 5u));
}

TEST(SourceFile, LinesAreWithoutTheirEnds) {
    SourceFile file("a.rules", "one\ntwo\r\n\nfour");
    EXPECT_EQ(file.line(1), "one");
    EXPECT_EQ(file.line(2), "two");
    EXPECT_EQ(file.line(3), "");
    EXPECT_EQ(file.line(4), "four");
    EXPECT_EQ(file.line(0), "");
    EXPECT_EQ(file.line(5), "");
}

TEST(SourceFile, OffsetsOfPositionsAreClamped) {
    SourceFile file("a.rules", "one\ntwo\r\n\nfour");
    EXPECT_EQ(file.offset_of(1, 1), 0u);
    EXPECT_EQ(file.offset_of(2, 3), 6u);
    EXPECT_EQ(file.offset_of(2, 99), 7u);
    EXPECT_EQ(file.offset_of(2, 0), 4u);
    EXPECT_EQ(file.offset_of(0, 0), 0u);
    EXPECT_EQ(file.offset_of(99, 1), 14u);
}

TEST(SourceFile, AnEmptyFileHasOneEmptyLine) {
    SourceFile file("a.rules", "");
    EXPECT_EQ(file.position(0).line, 1u);
    EXPECT_EQ(file.line(1), "");
}

TEST(Span, PlaceAndText) {
    SourceFile file("a.rules", "one\ntwo");
    Span span = find(file, "two");
    EXPECT_EQ(span.place(), "a.rules:2");
    EXPECT_EQ(span.text(), "two");
    EXPECT_EQ(span.where().line, 2u);
    EXPECT_EQ(span.where().column, 1u);
    EXPECT_EQ(Span{}.place(), "");
    EXPECT_EQ(Span{}.text(), "");
}

TEST(Render, TheFormOfTheLanguageDescription) {
    std::string text(std::string(13, '\n') + "    sum   bytessize as \"Total memory allocated\"\n");
    SourceFile file("cuda.rules", text);
    Diagnostics diagnostics;
    diagnostics.error(find(file, "bytessize"), "`bytessize` is not a parameter of `cuMemAlloc`")
        .labelled("not known here")
        .at("the prototype is here", {"types/cuda_driver.h", 31, 10})
        .help("a parameter with a similar name exists: `bytesize`");
    EXPECT_EQ(diagnostics.render(), R"(error: `bytessize` is not a parameter of `cuMemAlloc`
  --> cuda.rules:14:11
   |
14 |     sum   bytessize as "Total memory allocated"
   |           ^^^^^^^^^ not known here
note: the prototype is here
  --> types/cuda_driver.h:31:10
   = help: a parameter with a similar name exists: `bytesize`
)");
}

TEST(Render, WithoutAPlace) {
    Diagnostics diagnostics;
    diagnostics.error({}, "no function in `libcuda.so.1` matches `cuMemAloc`")
        .note("searched the 637 functions of /usr/lib/libcuda.so.1")
        .help("the library has `cuMemAlloc_v2`");
    EXPECT_EQ(diagnostics.render(), R"(error: no function in `libcuda.so.1` matches `cuMemAloc`
   = note: searched the 637 functions of /usr/lib/libcuda.so.1
   = help: the library has `cuMemAlloc_v2`
)");
}

TEST(Render, InAFileThatIsNotInMemory) {
    Diagnostics diagnostics;
    diagnostics.error_at({"a.h", 3, 5}, "unknown type name 'foo'");
    diagnostics.warning_at({"a.h", 0, 0}, "odd");
    EXPECT_EQ(diagnostics.render(), R"(error: unknown type name 'foo'
  --> a.h:3:5

warning: odd
  --> a.h
)");
}

TEST(Render, TheGutterIsAsWideAsTheLineNumber) {
    SourceFile one("a.rules", "abc");
    SourceFile hundred("b.rules", std::string(99, '\n') + "abc");
    Diagnostics diagnostics;
    diagnostics.warning(find(one, "b"), "first").help("do");
    diagnostics.note(find(hundred, "c"), "second").note("so");
    EXPECT_EQ(diagnostics.render(), R"(warning: first
 --> a.rules:1:2
  |
1 | abc
  |  ^
  = help: do

note: second
   --> b.rules:100:3
    |
100 | abc
    |   ^
    = note: so
)");
}

TEST(Render, TabsAndWideCharacters) {
    SourceFile file("a.rules", "\tx\ty # \xc3\xa4 z\n");
    Diagnostics diagnostics;
    diagnostics.error(find(file, "y"), "tab");
    diagnostics.error(find(file, "z"), "umlaut");
    diagnostics.error(find(file, "\tx\t"), "both");
    EXPECT_EQ(diagnostics.render(), R"(error: tab
 --> a.rules:1:4
  |
1 |     x    y # ä z
  |          ^

error: umlaut
 --> a.rules:1:11
  |
1 |     x    y # ä z
  |                ^

error: both
 --> a.rules:1:1
  |
1 |     x    y # ä z
  | ^^^^^^^^^
)");
}

TEST(Render, ControlCharactersDoNotReachTheTerminal) {
    SourceFile file("a.rules", "a \x1b[31m b\r\n");
    Diagnostics diagnostics;
    diagnostics.error(find(file, "b"), "bad \x1b token");
    EXPECT_EQ(diagnostics.render(), "error: bad \xef\xbf\xbd token\n"
                                    " --> a.rules:1:9\n"
                                    "  |\n"
                                    "1 | a \xef\xbf\xbd[31m b\n"
                                    "  |         ^\n");
}

TEST(Render, OfSeveralLinesTheFirstIsUnderlined) {
    SourceFile file("a.rules", "on x:y {\n  count\n}\n");
    Diagnostics diagnostics;
    diagnostics.error(find(file, "{\n  count\n}"), "long");
    EXPECT_EQ(diagnostics.render(), R"(error: long
 --> a.rules:1:8
  |
1 | on x:y {
  |        ^
)");
}

TEST(Render, EmptySpansHaveOneCaret) {
    SourceFile file("a.rules", "abc\n");
    Diagnostics diagnostics;
    diagnostics.error({&file, 3, 3}, "end of line");
    diagnostics.error({&file, 4, 4}, "end of file");
    EXPECT_EQ(diagnostics.render(), R"(error: end of line
 --> a.rules:1:4
  |
1 | abc
  |    ^

error: end of file
 --> a.rules:2:1
  |
2 |
  | ^
)");
}

TEST(Render, LongLinesAreCutAroundTheCaret) {
    SourceFile file("a.rules", std::string(300, 'a') + " wrong " + std::string(300, 'b'));
    Diagnostics diagnostics;
    diagnostics.error(find(file, "wrong"), "far right").labelled("this");
    EXPECT_EQ(diagnostics.render(), "error: far right\n"
                                    " --> a.rules:1:302\n"
                                    "  |\n"
                                    "1 | ..." +
                                        std::string(59, 'a') + " wrong " + std::string(94, 'b') +
                                        "...\n" + "  |    " + std::string(60, ' ') +
                                        "^^^^^ this\n");
}

TEST(Render, ALongSpanInALongLineEndsWithTheLine) {
    SourceFile file("a.rules", std::string(500, 'a'));
    Diagnostics diagnostics;
    diagnostics.error({&file, 10, 500}, "long");
    EXPECT_EQ(diagnostics.render(), "error: long\n"
                                    " --> a.rules:1:11\n"
                                    "  |\n"
                                    "1 | " +
                                        std::string(160, 'a') + "...\n" + "  | " +
                                        std::string(10, ' ') + std::string(150, '^') + "\n");
}

TEST(Render, RemarksOfSeveralLinesAreIndented) {
    Diagnostics diagnostics;
    diagnostics.error({}, "no library").note("looked in\n/usr/lib\n/lib");
    EXPECT_EQ(diagnostics.render(), R"(error: no library
   = note: looked in
           /usr/lib
           /lib
)");
}

TEST(Render, AtMostTwentyErrors) {
    Diagnostics diagnostics;
    for (int i = 0; i < 21; ++i) diagnostics.error({}, "mistake " + std::to_string(i));
    std::string text = diagnostics.render();
    EXPECT_EQ(text.substr(text.find("error: mistake 18")),
              "error: mistake 18\n\nerror: mistake 19\n\nerror: 1 more error\n");
    for (int i = 21; i < 25; ++i) diagnostics.error({}, "mistake " + std::to_string(i));
    text = diagnostics.render();
    EXPECT_TRUE(text.ends_with("error: mistake 19\n\nerror: 5 more errors\n"));
    EXPECT_EQ(diagnostics.error_count(), 25u);
}

TEST(Render, Colors) {
    SourceFile file("a.rules", "abc");
    Diagnostics diagnostics;
    diagnostics.error(find(file, "b"), "bad").labelled("this").help("do");
    EXPECT_EQ(diagnostics.render({true}), "\x1b[1;31merror\x1b[0m\x1b[1m: bad\x1b[0m\n"
                                          "\x1b[1;34m -->\x1b[0m a.rules:1:2\n"
                                          "\x1b[1;34m  |\x1b[0m\n"
                                          "\x1b[1;34m1 |\x1b[0m abc\n"
                                          "\x1b[1;34m  |\x1b[0m  \x1b[1;31m^ this\x1b[0m\n"
                                          "\x1b[1;34m  =\x1b[0m \x1b[1mhelp:\x1b[0m do\n");
}

TEST(Diagnostics, TheSameMistakeIsKeptOnce) {
    SourceFile file("a.rules", "abc");
    Diagnostics diagnostics;
    diagnostics.error(find(file, "b"), "bad").help("one");
    diagnostics.error(find(file, "b"), "bad").help("two");
    diagnostics.error(find(file, "c"), "bad");
    diagnostics.error_at({"a.h", 1, 1}, "bad");
    diagnostics.error_at({"a.h", 2, 1}, "bad");
    diagnostics.warning(find(file, "b"), "bad");
    EXPECT_EQ(diagnostics.error_count(), 4u);
    EXPECT_EQ(diagnostics.all().size(), 5u);
    EXPECT_EQ(diagnostics.all()[0].attachments.size(), 1u);
}

TEST(Diagnostics, WarningsAreNoErrors) {
    Diagnostics diagnostics;
    diagnostics.warning({}, "odd");
    diagnostics.note({}, "so");
    EXPECT_FALSE(diagnostics.has_errors());
    EXPECT_EQ(diagnostics.render(), "warning: odd\n\nnote: so\n");
}

TEST(Diagnostics, AsidesAreShownWhereTheyAreAskedFor) {
    Diagnostics diagnostics;
    diagnostics.aside({}, "left out");
    diagnostics.warning({}, "odd");
    EXPECT_FALSE(diagnostics.has_errors());
    EXPECT_EQ(diagnostics.render(), "warning: odd\n");
    EXPECT_EQ(diagnostics.render({false, true}), "note: left out\n\nwarning: odd\n");
}

TEST(Diagnostics, NothingIsAnEmptyText) {
    EXPECT_EQ(Diagnostics().render(), "");
}

}  // namespace
}  // namespace mlbcc
