#include <gtest/gtest.h>

#include "describe.h"
#include "parse_text.h"

namespace mlbcc::rules {
namespace {

std::string tree(const std::string& text) {
    Parsed parsed = parse_text(text);
    return parsed.messages() + describe(parsed.rules);
}

TEST(Library, FilesAndVariants) {
    EXPECT_EQ(tree("library a = \"liba.so.1\", \"./liba*.so\" variants _v2 ptsz\n_v3"),
              "library a = liba.so.1, ./liba*.so variants _v2, ptsz, _v3\n");
}

TEST(Set, StandsForItsTargets) {
    const std::string rule = "rule 0 at a.rules:2:\n  on syscall:open\n  on syscall:read*\n";
    EXPECT_EQ(tree("set a = syscall:open, syscall:read*\non a { count }"), rule + "  count\n");
    EXPECT_EQ(tree("set a = syscall:open set b = a, syscall:read*\non b { count }"),
              rule + "  count\n");
    EXPECT_EQ(tree("set a = syscall:open\non entry a, syscall:read except cuX { count }"),
              tree("\non entry syscall:open, syscall:read except cuX { count }"));
    EXPECT_EQ(tree("int set(int a);"), "declaration at a.rules:1: int set(int a);\n");
}

TEST(Set, Mistakes) {
    EXPECT_EQ(parse_text("set moves = syscall:open\non move { count }").messages(),
              "error: `move` is neither a `set` nor a target\n"
              " --> a.rules:2:4\n"
              "  |\n"
              "2 | on move { count }\n"
              "  |    ^^^^\n"
              "  = help: a set with a similar name exists: `moves`\n"
              "  = help: a target is a library and its functions: `LIBRARY:FUNCTION`\n");
    EXPECT_EQ(parse_text("set a = syscall:open\nset a = syscall:read").messages(),
              "error: the set `a` is defined twice\n"
              " --> a.rules:2:1\n"
              "  |\n"
              "2 | set a = syscall:read\n"
              "  | ^^^^^^^^^^^^^^^^^^^^\n"
              "note: here\n"
              " --> a.rules:1:1\n");
}

TEST(Library, VariantsEndWhereTheNextStatementBegins) {
    EXPECT_EQ(tree("library a = \"a.so\" variants _v2 no_callbacks"),
              "library a = a.so variants _v2 no_callbacks\n");
    EXPECT_EQ(tree("library a = \"a.so\"\nlibrary a = \"a.so\" no_callbacks"),
              "library a = a.so no_callbacks\n");
    EXPECT_EQ(tree("library a = \"a.so\" variants _v2 on a:f { count }"),
              "library a = a.so variants _v2\nrule 0 at a.rules:1:\n  on a:f\n  count\n");
    EXPECT_EQ(tree("library a = \"a.so\" variants _v2\nint f(void);\n"),
              "library a = a.so variants _v2\ndeclaration at a.rules:2: int f(void);\n");
    EXPECT_EQ(tree("library a = \"a.so\" variants _v2\n_Bool f(void);\n"),
              "library a = a.so variants _v2\ndeclaration at a.rules:2: _Bool f(void);\n");
    EXPECT_EQ(tree("library a = \"a.so\" variants _v2\nheader \"x.h\"\n"),
              "library a = a.so variants _v2\nheader x.h\n");
}

TEST(Library, Mistakes) {
    EXPECT_EQ(messages("library = \"a.so\""), R"(error: expected the name of a library, found `=`
 --> a.rules:1:9
  |
1 | library = "a.so"
  |         ^
)");
    EXPECT_EQ(messages("library a = a.so"),
              R"(error: expected the name of a library file in quotes, found `a`
 --> a.rules:1:13
  |
1 | library a = a.so
  |             ^
  = help: put it in quotes: `"a"`
)");
    EXPECT_EQ(messages("library a = \"a.so\" variants\n"),
              R"(error: expected a suffix of names, such as `_v2`, found the end of the file
 --> a.rules:1:28
  |
1 | library a = "a.so" variants
  |                            ^
)");
}

TEST(Functions, AListStandsForWhatIsInIt) {
    Parsed parsed = parse_rules("library a = \"a.so\"\n"
                                "on a:f*, a:asks except asks, g { count }\n"
                                "functions asks = get_*, \"version\" as \"calls that only ask\"\n");
    ASSERT_EQ(parsed.messages(), "");
    const Rule& rule = parsed.rules.rules.at(0);
    ASSERT_EQ(rule.targets.size(), 3U);
    EXPECT_EQ(std::get<FunctionTarget>(rule.targets[0].node).list, std::nullopt);
    EXPECT_EQ(std::get<FunctionTarget>(rule.targets[2].node).pattern, "version");
    EXPECT_EQ(std::get<FunctionTarget>(rule.targets[2].node).list, 0U);
    ASSERT_EQ(rule.except.size(), 3U);
    EXPECT_EQ(rule.except[0].pattern, "get_*");
    EXPECT_EQ(rule.except[0].list, 0U);
    EXPECT_EQ(rule.except[2].list, std::nullopt);
    EXPECT_EQ(parsed.rules.lists.at(0).said, "calls that only ask");
}

TEST(Functions, Mistakes) {
    EXPECT_EQ(messages("functions = f"),
              R"(error: expected the name of a list of functions, found `=`
 --> a.rules:1:11
  |
1 | functions = f
  |           ^
)");
    EXPECT_EQ(messages("functions a = f as g"),
              R"(error: expected a description of these functions in quotes, found `g`
 --> a.rules:1:20
  |
1 | functions a = f as g
  |                    ^
  = help: put it in quotes: `"g"`
)");
    EXPECT_EQ(messages("functions a = f\nfunctions a = f"), R"(error: there are two lists `a`
 --> a.rules:2:11
  |
2 | functions a = f
  |           ^
note: the first is here
 --> a.rules:1:1
  = help: give one of them another name
)");
}

TEST(UntilKnown, IsForFunctionsThatAreLearntFrom) {
    const std::string library = "library a = \"a.so\"\n";
    EXPECT_EQ(messages(library + "on until_known optional a:f { where x > 1 learn t[tid] = x }"),
              "");
    EXPECT_EQ(messages(library + "on until_known a:f { learn t[tid] = x count }"),
              R"(error: `until_known` is for rules that learn by `=`, and nothing else
 --> a.rules:2:39
  |
2 | on until_known a:f { learn t[tid] = x count }
  |                                       ^^^^^
  = help: give this a rule of its own
)");
    EXPECT_EQ(messages("on until_known syscall:read { learn t[tid] = 1 }"),
              R"(error: `until_known` is for functions of libraries only
 --> a.rules:1:16
  |
1 | on until_known syscall:read { learn t[tid] = 1 }
  |                ^^^^^^^^^^^^
  = help: remove `until_known`
)");
}

TEST(Library, TheNameOfAKindOfTargetIsTaken) {
    EXPECT_EQ(messages("library kernel = \"libkernel.so\""),
              R"(error: `kernel` cannot be the name of a library
 --> a.rules:1:9
  |
1 | library kernel = "libkernel.so"
  |         ^^^^^^ the name of a kind of target
  = help: give it another name: only this file uses it
)");
}

TEST(Library, TwoOfOneNameMustBeEqual) {
    EXPECT_EQ(messages("library cuda = \"libcuda.so.1\" variants _v2"), "");
    EXPECT_EQ(messages("library cuda = \"libcuda.so\" variants _v2"),
              R"(error: the library `cuda` is defined twice
 --> a.rules:1:1
  |
1 | library cuda = "libcuda.so" variants _v2
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
note: the other definition is here
 --> libraries.rules:1:1
  = help: give one of them another name, or make them equal
)");
}

TEST(Library, RelativePathsInTwoFoldersAreTwoLibraries) {
    const std::string a = "library x = \"./x.so\"";
    Parsed parsed = parse_files({{"a/a.rules", a}, {"b/b.rules", a}}, {"a/a.rules", "b/b.rules"});
    ASSERT_EQ(parsed.diagnostics.all().size(), 1u);
    EXPECT_EQ(parsed.diagnostics.all()[0].message, "the library `x` is defined twice");
    const std::string c = "library x = \"x.so\"";
    EXPECT_EQ(
        parse_files({{"a/a.rules", c}, {"b/b.rules", c}}, {"a/a.rules", "b/b.rules"}).messages(),
        "");
}

TEST(Library, KnowsTheFolderOfItsFile) {
    Parsed parsed =
        parse_files({{"a/b/x.rules", "library x = \"./x.so\"\nheader \"x.h\""}}, {"a/b/x.rules"});
    EXPECT_EQ(parsed.rules.libraries.at(0).directory, "a/b");
    EXPECT_EQ(parsed.rules.headers.at(0).directory, "a/b");
}

TEST(Header, Mistakes) {
    EXPECT_EQ(messages("header <cuda.h>\non c:f { count }"),
              R"(error: expected the name of a C header in quotes, found `<`
 --> a.rules:1:8
  |
1 | header <cuda.h>
  |        ^
)");
    EXPECT_EQ(messages("header \"a.h\",\non c:f { count }"),
              R"(error: expected the name of a C header in quotes, found `on`
 --> a.rules:2:1
  |
2 | on c:f { count }
  | ^^
  = help: put it in quotes: `"on"`
)");
}

TEST(Statement, WithoutOn) {
    EXPECT_EQ(messages("cuda:cuInit { count }"), R"(error: a rule begins with `on`
 --> a.rules:1:1
  |
1 | cuda:cuInit { count }
  | ^^^^
  = help: write `on cuda:`
)");
}

TEST(Statement, AClauseOutsideOfARule) {
    EXPECT_EQ(messages("count by pid\non c:f { count }"), R"(error: `count` stands outside of a rule
 --> a.rules:1:1
  |
1 | count by pid
  | ^^^^^
  = help: put it between the `{` and the `}` of a rule
)");
}

TEST(Statement, AMisspeltWord) {
    EXPECT_EQ(messages("libary x = \"x.so\"\non x:f { count }"),
              R"(error: `libary` is not a statement
 --> a.rules:1:1
  |
1 | libary x = "x.so"
  | ^^^^^^
  = help: a statement with a similar name exists: `library`
)");
    EXPECT_EQ(messages("onn c:f { count }"), R"(error: `onn` is not a statement
 --> a.rules:1:1
  |
1 | onn c:f { count }
  | ^^^
  = help: a statement with a similar name exists: `on`
)");
}

TEST(Statement, ASemicolonBehindIt) {
    EXPECT_EQ(messages("header \"a.h\";\n"), R"(error: expected a statement, found `;`
 --> a.rules:1:13
  |
1 | header "a.h";
  |             ^
  = help: remove it: only C declarations end with `;`
)");
}

// ---- C text

TEST(Declaration, EndsAtItsSemicolon) {
    EXPECT_EQ(tree("struct a { int x; struct { int y; } z; };\n"
                   "typedef enum e { A = 1, B = 2 } e_t;\n"
                   "typedef int (*callback)(void *p, int n[4]);\n"
                   "  unsigned long long f(const struct a *p, ...);\n"
                   "struct __attribute__((packed)) b { char c; } __attribute__((aligned(8)));"),
              R"(declaration at a.rules:1: struct a { int x; struct { int y; } z; };
declaration at a.rules:2: typedef enum e { A = 1, B = 2 } e_t;
declaration at a.rules:3: typedef int (*callback)(void *p, int n[4]);
declaration at a.rules:4: unsigned long long f(const struct a *p, ...);
declaration at a.rules:5: struct __attribute__((packed)) b { char c; } __attribute__((aligned(8)));
)");
}

TEST(Declaration, WordsOfTheLanguageAreNamesWithin) {
    EXPECT_EQ(tree("struct header {\n  int on;\n  int library;\n};\nint count(int event);\n"),
              "declaration at a.rules:1: struct header {\n  int on;\n  int library;\n};\n"
              "declaration at a.rules:5: int count(int event);\n");
}

TEST(Declaration, CommentsOfRuleFilesAreBlankedOut) {
    EXPECT_EQ(tree("int f(int a,  # first; {\n      int b); # tail"),
              "declaration at a.rules:1: int f(int a,            \n      int b);\n");
    EXPECT_EQ(tree("int f(int a /* # 1 */, int b // # 2\n);"),
              "declaration at a.rules:1: int f(int a /* # 1 */, int b // # 2\n);\n");
}

TEST(Declaration, TextForTheCParserCarriesItsPlace) {
    Parsed parsed = parse_text("\n  int f(int a);  int g(\n    int b);\n");
    EXPECT_EQ(declarations_text(parsed.rules), "#line 2 \"a.rules\"\n"
                                               "  int f(int a);\n"
                                               "#line 2 \"a.rules\"\n"
                                               "                 int g(\n    int b);\n");
    Parsed odd = parse_files({{"a \"b\"\\c.rules", "int f(void);"}}, {"a \"b\"\\c.rules"});
    EXPECT_EQ(declarations_text(odd.rules), "#line 1 \"a \\\"b\\\"\\\\c.rules\"\nint f(void);\n");
}

TEST(Declaration, WithoutItsSemicolon) {
    EXPECT_EQ(messages("int f(int a)\non c:f { count }"),
              R"(error: expected a C declaration that ends with `;`, found `on`
 --> a.rules:2:1
  |
2 | on c:f { count }
  | ^^
note: it begins here
 --> a.rules:1:1
  = note: the other statements begin with `on`, `library`, `functions`, `header` or `import`
)");
}

TEST(Declaration, WithoutItsBrace) {
    Parsed parsed = parse_rules("struct a {\n  int x;\n\non c:f { count }");
    EXPECT_EQ(parsed.diagnostics.all().at(0).message,
              "expected a C declaration that ends with `;`, found `on`");
    EXPECT_EQ(parsed.diagnostics.error_count(), 1u);
    EXPECT_EQ(parsed.rules.rules.size(), 1u);
}

TEST(Declaration, WithCode) {
    EXPECT_EQ(messages("static int f(int a) { if (a) { return 1; } return 2; }\non c:f { count }"),
              R"(error: a function with its code cannot stand in a rule file
 --> a.rules:1:1
  |
1 | static int f(int a) { if (a) { return 1; } return 2; }
  | ^^^^^^^^^^^^^^^^^^^
  = help: end the prototype with `;`
)");
}

TEST(Declaration, Words) {
    EXPECT_EQ(messages("record everything please\n"),
              R"(error: expected a C declaration that ends with `;`, found the end of the file
 --> a.rules:1:25
  |
1 | record everything please
  |                         ^
note: it begins here
 --> a.rules:1:1
  = note: the other statements begin with `on`, `library`, `functions`, `header` or `import`
)");
}

TEST(Directives, AreCommentsWithAWarning) {
    EXPECT_EQ(messages("#include <cuda.h>\n  #define N 5\n# include what you like\n#ifdeflate\n"),
              R"(warning: `#include` is a comment in a rule file
 --> a.rules:1:1
  |
1 | #include <cuda.h>
  | ^^^^^^^^
  = help: write `header "cuda.h"`

warning: `#define` is a comment in a rule file
 --> a.rules:2:3
  |
2 |   #define N 5
  |   ^^^^^^^
  = help: put C text that needs it in a file, and name that: `header "FILE.h"`
)");
}

}  // namespace
}  // namespace mlbcc::rules
