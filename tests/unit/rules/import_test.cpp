#include <gtest/gtest.h>

#include "describe.h"
#include "parse_text.h"

namespace mlbcc::rules {
namespace {

TEST(Import, RulesOfTheImportedFileComeFirst) {
    Parsed parsed = parse_files({{"a.rules", "import \"b.rules\"\non x:a { count }"},
                                 {"b.rules", "library x = \"x.so\"\non x:b { count }"}},
                                {"a.rules"});
    EXPECT_EQ(parsed.messages(), "");
    EXPECT_EQ(describe(parsed.rules), "library x = x.so\n"
                                      "rule 0 at b.rules:2:\n  on x:b\n  count\n"
                                      "rule 1 at a.rules:2:\n  on x:a\n  count\n");
}

TEST(Import, IsRelativeToTheImportingFile) {
    Parsed parsed = parse_files({{"d/a.rules", "import \"e/b.rules\""},
                                 {"d/e/b.rules", "import \"c.rules\""},
                                 {"d/e/c.rules", "header \"c.h\""}},
                                {"d/a.rules"});
    EXPECT_EQ(parsed.messages(), "");
    EXPECT_EQ(parsed.rules.headers.at(0).directory, "d/e");
}

TEST(Import, AFileIsReadOnce) {
    Files files{{"a.rules", "import \"b.rules\" import \"c.rules\""},
                {"b.rules", "import \"d.rules\""},
                {"c.rules", "import \"d.rules\""},
                {"d.rules", "header \"d.h\""}};
    Parsed parsed = parse_files(files, {"a.rules", "d.rules", "a.rules"});
    EXPECT_EQ(parsed.messages(), "");
    EXPECT_EQ(parsed.rules.headers.size(), 1u);
    EXPECT_EQ(parsed.rules.files.size(), 4u);
}

TEST(Import, FilesOfTheCommandLineAddUp) {
    Files files{{"a.rules", "on x:f { count }"}, {"b.rules", "library x = \"x.so\""}};
    EXPECT_EQ(parse_files(files, {"a.rules", "b.rules"}).messages(), "");
    EXPECT_EQ(parse_files(files, {"b.rules", "a.rules"}).messages(), "");
    EXPECT_EQ(parse_files(files, {"a.rules"}).diagnostics.all().at(0).message,
              "there is no library `x`");
}

std::vector<std::string> optional_ones(const RuleSet& rules) {
    std::vector<std::string> made;
    for (const Rule& rule : rules.rules) {
        EXPECT_EQ(rule.optional, rule.unsaid) << rule.place();
        if (rule.optional) made.push_back(rule.place());
    }
    return made;
}

TEST(Import, OptionalIsForAllRulesOfTheFileAndOfWhatItImports) {
    Files files{{"a.rules", "import optional \"b.rules\"\non x:a { count }"},
                {"b.rules", "import \"c.rules\"\non x:b { count }"},
                {"c.rules", "library x = \"x.so\"\non x:c { count }"}};
    Parsed parsed = parse_files(files, {"a.rules"});
    EXPECT_EQ(parsed.messages(), "");
    EXPECT_EQ(optional_ones(parsed.rules), (std::vector<std::string>{"c.rules:2", "b.rules:2"}));
}

TEST(Import, WhatIsNeededElsewhereIsNotOptional) {
    Files files{{"a.rules", "import optional \"b.rules\" import \"c.rules\""},
                {"b.rules", "import \"d.rules\"\non x:b { count }"},
                {"c.rules", "import \"d.rules\"\non x:c { count }"},
                {"d.rules", "library x = \"x.so\"\non x:d { count }"}};
    EXPECT_EQ(optional_ones(parse_files(files, {"a.rules"}).rules),
              std::vector<std::string>{"b.rules:2"});
    EXPECT_EQ(optional_ones(parse_files(files, {"a.rules", "b.rules"}).rules),
              std::vector<std::string>{});
}

TEST(Import, OptionalWithoutAFile) {
    EXPECT_EQ(parse_text("import optional\n").diagnostics.all().at(0).message,
              "expected the name of a rule file in quotes, found the end of the file");
    Parsed missing = parse_text("import optional \"b.rules\"\n");
    EXPECT_EQ(missing.diagnostics.all().at(0).message,
              "cannot open b.rules: No such file or directory");
}

TEST(Import, Itself) {
    EXPECT_EQ(parse_text("# me\nimport \"a.rules\"").messages(), R"(error: `a.rules` imports itself
 --> a.rules:2:8
  |
2 | import "a.rules"
  |        ^^^^^^^^^
  = note: `a.rules` imports `a.rules`
  = help: remove one of these imports
)");
}

TEST(Import, InACircle) {
    Parsed parsed = parse_files({{"main.rules", "import \"a.rules\""},
                                 {"a.rules", "import \"b.rules\""},
                                 {"b.rules", "import \"c.rules\""},
                                 {"c.rules", "import \"a.rules\""}},
                                {"main.rules"});
    EXPECT_EQ(parsed.messages(), R"(error: `a.rules` imports itself
 --> c.rules:1:8
  |
1 | import "a.rules"
  |        ^^^^^^^^^
  = note: `a.rules` imports `b.rules` imports `c.rules` imports `a.rules`
  = help: remove one of these imports
)");
}

TEST(Import, OfManyFilesInAChain) {
    Files files;
    for (int i = 0; i < 100; ++i) {
        files[std::to_string(i)] = "import \"" + std::to_string(i + 1) + "\"";
    }
    EXPECT_EQ(parse_files(files, {"0"}).messages(),
              R"(error: more than 64 files import each other in a chain
 --> 63:1:8
  |
1 | import "64"
  |        ^^^^
)");
}

TEST(Import, MissingFile) {
    EXPECT_EQ(parse_text("import \"cuda.rulse\"\non cuda:f { count }").messages(),
              R"(error: cannot open cuda.rulse: No such file or directory
 --> a.rules:1:8
  |
1 | import "cuda.rulse"
  |        ^^^^^^^^^^^^
)");
}

TEST(Import, WithoutQuotes) {
    EXPECT_EQ(parse_text("import cuda\n").messages(),
              R"(error: expected the name of a rule file in quotes, found `cuda`
 --> a.rules:1:8
  |
1 | import cuda
  |        ^^^^
  = help: put it in quotes: `"cuda"`
)");
}

TEST(File, Missing) {
    Parsed parsed;
    LoadFile load = [](std::string_view, std::string_view) -> Result<LoadedFile> {
        return Error{"no rules `cuda` in /usr/share/mlbcc/rules", 0, "give a path"};
    };
    parsed.rules = parse("cuda", load, parsed.diagnostics);
    EXPECT_EQ(parsed.messages(), "error: no rules `cuda` in /usr/share/mlbcc/rules\n"
                                 "   = help: give a path\n");
}

TEST(File, Empty) {
    EXPECT_EQ(parse_text("").messages(), "");
    EXPECT_EQ(parse_text("# nothing\n").messages(), "");
}

TEST(File, BinaryRubbish) {
    EXPECT_EQ(parse_text(std::string("on c:f\n{ \x7f\0", 11)).messages(),
              "error: a.rules is not text: byte 0x00 at offset 10, line 2\n"
              "   = help: a rule file is UTF-8 text\n");
    auto first = [](const std::string& text) {
        Parsed parsed = parse_text("# " + text + "x");
        return parsed.diagnostics.all().empty() ? "" : parsed.diagnostics.all()[0].message;
    };
    const std::string kAt2 = " at offset 2, line 1";
    EXPECT_EQ(first("\xff"), "a.rules is not text: byte 0xff" + kAt2);
    EXPECT_EQ(first("\x80"), "a.rules is not text: byte 0x80" + kAt2);
    EXPECT_EQ(first("\xc0\x80"), "a.rules is not text: byte 0xc0" + kAt2);
    EXPECT_EQ(first("\xe0\x80\x80"), "a.rules is not text: byte 0xe0" + kAt2);
    EXPECT_EQ(first("\xed\xa0\x80"), "a.rules is not text: byte 0xed" + kAt2);
    EXPECT_EQ(first("\xf4\x90\x80\x80"), "a.rules is not text: byte 0xf4" + kAt2);
    EXPECT_EQ(first("\xe2\x82"), "a.rules is not text: byte 0xe2" + kAt2);
    EXPECT_EQ(first("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), "");
}

TEST(File, AnImportedOneIsRubbish) {
    Parsed parsed = parse_files({{"a.rules", "import \"b.so\""},
                                 {"b.so", "\x7f"
                                          "ELF\xff"}},
                                {"a.rules"});
    EXPECT_EQ(parsed.messages(), R"(error: b.so is not text: byte 0xff at offset 4, line 1
 --> a.rules:1:8
  |
1 | import "b.so"
  |        ^^^^^^
  = help: a rule file is UTF-8 text
)");
}

TEST(File, TooLarge) {
    EXPECT_EQ(parse_text(std::string(10 << 20, ' ')).messages(),
              "error: a.rules is too large: 10485760 bytes, the limit is 1048576\n");
    EXPECT_EQ(parse_text(std::string(1 << 20, ' ')).messages(), "");
}

TEST(File, AByteOrderMarkIsSkipped) {
    EXPECT_EQ(parse_text("\xef\xbb\xbfheader \"a.h\"\n").messages(), "");
}

TEST(File, LinesMayEndAsOnWindows) {
    Parsed parsed = parse_rules("on c:f {\r\n  count # x\r\n  cuont\r\n}\r\n");
    EXPECT_EQ(parsed.messages(), R"(error: `cuont` is not a clause
 --> a.rules:3:3
  |
3 |   cuont
  |   ^^^^^
  = help: a clause with a similar name exists: `count`
)");
}

}  // namespace
}  // namespace mlbcc::rules
