// Which rule or template each line of generated C is from.
#include <gtest/gtest.h>

#include <set>

#include "codegen/generated.h"
#include "codegen/template.h"
#include "sink/golden.h"

namespace mlbcc::test {
namespace {

using codegen::Origin;
using codegen::Source;

Origin of_template(const std::string& name, uint32_t line) {
    return {{}, name, line};
}

TEST(LineMap, ATemplateGoesOnBehindTheLinesOfASlot) {
    const SourceFile file("a.rules", "on x { count }");
    const Span rule{&file, 7, 12};
    Source body;
    body.from({{rule}, {}, 0});
    body.append("one\ntwo\n");
    const codegen::Templates templates{{"t.c", "// first\nint {{name}}() {\n{{body}}}\n// last\n"}};
    auto filled = codegen::fill(templates, "t.c", {{"name", "f"}, {"body", &body}});
    ASSERT_TRUE(filled) << filled.error().message();
    EXPECT_EQ(filled->text(), "#line 1 \"probe_templates/t.c\"\n// first\nint f() {\none\ntwo\n}\n"
                              "// last\n");
    const codegen::LineMap& lines = filled->lines();
    EXPECT_TRUE(lines.of(2) == of_template("t.c", 1));
    EXPECT_TRUE(lines.of(3) == of_template("t.c", 2));
    EXPECT_EQ(lines.of(4).rules.at(0).text(), "count");
    EXPECT_EQ(lines.of(5).rules.at(0).text(), "count");
    EXPECT_TRUE(lines.of(6) == of_template("t.c", 3));
    EXPECT_TRUE(lines.of(7) == of_template("t.c", 4));
}

TEST(LineMap, LinesThatArePutBetweenMoveWhatIsBehind) {
    Source text;
    text.from(of_template("a.c", 1));
    text.append("a\nb\n");
    text.from(of_template("b.c", 1));
    text.append("c\n");
    text.insert(4, "new\nlines\n");
    EXPECT_EQ(text.text(), "a\nb\nnew\nlines\nc\n");
    EXPECT_TRUE(text.lines().of(1) == of_template("a.c", 1));
    EXPECT_TRUE(text.lines().of(5) == of_template("b.c", 1));
}

TEST(LineMap, BeforeTheFirstMarkNothingIsKnown) {
    EXPECT_TRUE(codegen::LineMap().of(1) == Origin{});
}

constexpr const char* kRules = "on cuda:cuMemAlloc {\n"
                               "    where bytesize > 1 && ret == 0\n"
                               "    event memory.alloc(address = *dptr,\n"
                               "                       size = bytesize)\n"
                               "    count by *dptr as \"By \\\\ address\"\n"
                               "}\n"
                               "on cuda:cuInit { sum Flags }\n";

codegen::Program program(const Planned& planned) {
    EXPECT_EQ(planned.messages(), "");
    auto made = codegen::generate(planned.plan(), {.templates = &shipped_templates()});
    EXPECT_TRUE(made);
    return std::move(*made);
}

TEST(LineMap, TheRulesStandAboveWhatCarriesThemOut) {
    const Planned planned(kRules);
    const std::string text = codegen::annotated(program(planned), codegen::Annotated::whole);
    expect_golden("codegen/annotated.c.golden",
                  between(text, "#line 1 \"maps\"", "#line 1 \"probe_templates/follow.bpf.c\""));
}

TEST(LineMap, AnnotatedIsTheSameProgram) {
    const Planned planned(kRules);
    const codegen::Program made = program(planned);
    std::istringstream annotated(codegen::annotated(made, codegen::Annotated::whole));
    std::string without;
    for (std::string line; std::getline(annotated, line);) {
        if (line.find("// a.rules:") == std::string::npos) without += line + "\n";
    }
    EXPECT_EQ(without, made.source);
}

// Every line that a `#line` says is a rule's is the same rule's by the map, and every line of a
// template is in the place that the map says.
TEST(LineMap, AgreesWithTheText) {
    const Planned planned(kRules);
    const codegen::Program made = program(planned);
    std::istringstream text(made.source);
    std::string line, expected;
    size_t of_rules = 0, of_templates = 0;
    for (uint32_t number = 1; std::getline(text, line); ++number) {
        const Origin at = made.lines.of(number);
        if (!expected.empty()) {
            EXPECT_EQ(at.rules.at(0).place(), expected) << number << ": " << line;
            ++of_rules;
        }
        unsigned of = 0;
        char file[64];
        bool directive = std::sscanf(line.c_str(), "#line %u \"%63[^\"]", &of, file) == 2;
        expected = directive && std::string(file) == "a.rules" ? fmt::format("a.rules:{}", of) : "";
        if (directive || at.template_name.empty()) continue;
        std::istringstream whole(shipped_templates().find(at.template_name)->second);
        std::string there;
        for (uint32_t i = 0; i < at.template_line; ++i) std::getline(whole, there);
        if (there.find("{{") != std::string::npos) continue;
        EXPECT_EQ(line, there) << at.template_name << ":" << at.template_line;
        ++of_templates;
    }
    EXPECT_EQ(of_rules, 5u);
    EXPECT_GT(of_templates, 300u);
}

TEST(LineMap, NumberedTextNamesItsOwnLines) {
    EXPECT_EQ(codegen::numbered("#line 1 \"a\"\nx;\n#line 7 \"b\"\n#define y\\\n z\nf(a,\n"
                                "  b);\nint g;\n"),
              "#line 2\nx;\n#line 4\n#define y\\\n z\nf(a,\n  b);\n#line 8\nint g;\n");
}

TEST(LineMap, AShapeOfSeveralRulesNamesThemAll) {
    const Planned planned("on cuda:cuInit { event a }\non cuda:cuMemAlloc { event a }\n");
    const codegen::Program made = program(planned);
    std::set<std::string> heads;
    for (const codegen::LineMap::Mark& mark : made.lines.marks()) {
        if (mark.origin.rules.size() < 2) continue;
        for (const Span& span : mark.origin.rules) heads.insert(std::string(span.text()));
    }
    EXPECT_EQ(heads, (std::set<std::string>{"on cuda:cuInit", "on cuda:cuMemAlloc"}));
}

}  // namespace
}  // namespace mlbcc::test
