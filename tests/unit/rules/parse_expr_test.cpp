#include <gtest/gtest.h>

#include "describe.h"
#include "parse_text.h"

namespace mlbcc::rules {
namespace {

// The tree of an expression, or what is wrong with it.
std::string tree(const std::string& text) {
    Parsed parsed = parse_rules("on c:f { count where " + text + "\n}");
    if (parsed.diagnostics.has_errors()) return parsed.messages();
    if (parsed.rules.rules[0].where.size() != 1) return "no expression";
    return describe(*parsed.rules.rules[0].where[0]);
}

TEST(Expr, PrecedenceIsThatOfC) {
    EXPECT_EQ(tree("a + b * c"), "(a + (b * c))");
    EXPECT_EQ(tree("a - b - c"), "((a - b) - c)");
    EXPECT_EQ(tree("(a - b) % c / d"), "(((a - b) % c) / d)");
    EXPECT_EQ(tree("a || b && c | d ^ e & f == g < h << i + j * k"),
              "(a || (b && (c | (d ^ (e & (f == (g < (h << (i + (j * k))))))))))");
    EXPECT_EQ(tree("a & 1 == 0"), "(a & (1 == 0))");
    EXPECT_EQ(tree("a >= b != c <= d"), "((a >= b) != (c <= d))");
    EXPECT_EQ(tree("a >> 1 > b"), "((a >> 1) > b)");
    EXPECT_EQ(tree("a ? b : c ? d : e"), "(a ? b : (c ? d : e))");
    EXPECT_EQ(tree("a || b ? c ? d : e : f"), "((a || b) ? (c ? d : e) : f)");
}

TEST(Expr, PrefixAndPostfix) {
    EXPECT_EQ(tree("*p->q[2].r"), "(*(((p->q)[2]).r))");
    EXPECT_EQ(tree("!*&a"), "(!(*(&a)))");
    EXPECT_EQ(tree("-~+a * -b"), "((-(~(+a))) * (-b))");
    EXPECT_EQ(tree("kernel[*hfunc]"), "(kernel[(*hfunc)])");
    EXPECT_EQ(tree("(*p).x"), "((*p).x)");
    EXPECT_EQ(tree("m[i][j]"), "((m[i])[j])");
}

TEST(Expr, Leaves) {
    EXPECT_EQ(tree("1MiB"), "1048576B");
    EXPECT_EQ(tree("5ms"), "5000000ns");
    EXPECT_EQ(tree("0xff"), "0xff");
    EXPECT_EQ(tree("'a' == '\\n'"), "('97' == '10')");
    EXPECT_EQ(tree("comm == \"python3\""), "(comm == \"python3\")");
    EXPECT_EQ(tree("arg(3)"), "arg(3)");
    EXPECT_EQ(tree("str(p) == str(p->q, 16)"), "(str(p, 64) == str((p->q), 16))");
}

TEST(Expr, NoWordIsReserved) {
    EXPECT_EQ(tree("count > where + on"), "(count > (where + on))");
    EXPECT_EQ(tree("arg == str"), "(arg == str)");
    EXPECT_EQ(tree("p->event.span"), "((p->event).span)");
    EXPECT_EQ(tree("args"), "args");
}

TEST(Expr, MayStandOnSeveralLines) {
    EXPECT_EQ(tree("a ==  # why\n 1\n && // how\n b"), "((a == 1) && b)");
}

// The message's first line and the line of its help.
std::string mistake(const std::string& text) {
    std::string out;
    Parsed parsed = parse_rules("on c:f { count where " + text + "\n}");
    for (const Diagnostic& d : parsed.diagnostics.all()) {
        if (!out.empty()) out += "; ";
        out += d.message + " at " + std::string(d.span.text());
        for (const auto& attachment : d.attachments) out += " (" + attachment.text + ")";
    }
    return out;
}

TEST(Expr, ACast) {
    EXPECT_EQ(tree("(color)x"), "((color)x)");
    EXPECT_EQ(tree("(enum color)x & 1"), "(((enum color)x) & 1)");
    EXPECT_EQ(tree("(color)(x & 1)"), "((color)(x & 1))");
    EXPECT_EQ(tree("(const struct request *)arg"), "((const struct request *)arg)");
    EXPECT_EQ(tree("((request*)arg)->next[1]"), "((((request *)arg)->next)[1])");
    EXPECT_EQ(tree("(request **)*p->q"), "((request **)(*(p->q)))");
    EXPECT_EQ(tree("(unsigned char)-1"), "((unsigned char)(-1))");
    EXPECT_EQ(tree("(int)-1"), "((int)(-1))");
    EXPECT_EQ(tree("(size_t)~0"), "((size_t)(~0))");
    EXPECT_EQ(tree("(a)(b)c"), "((a)((b)c))");
    EXPECT_EQ(mistake("(color)"), "");
    EXPECT_EQ(mistake("(color *)"), "expected an expression, found `)` at )");
}

// A single name may be a value as well as a type.
TEST(Expr, NoCast) {
    EXPECT_EQ(tree("(a)"), "a");
    EXPECT_EQ(tree("(a) * b"), "(a * b)");
    EXPECT_EQ(tree("(a) - 1"), "(a - 1)");
    EXPECT_EQ(tree("(a) & b"), "(a & b)");
    EXPECT_EQ(tree("(a * b) * c"), "((a * b) * c)");
    EXPECT_EQ(tree("(request * const)p"), "((request * const)p)");
    EXPECT_EQ(tree("(a)\n"), "a");
    Parsed parsed = parse_rules("on c:f { where (found) count by (pid) as \"n\" }");
    EXPECT_EQ(parsed.messages(), "");
    EXPECT_EQ(describe(*parsed.rules.rules.at(0).where.at(0)), "found");
    EXPECT_TRUE(parsed.rules.casts.empty());
}

TEST(Expr, WhatACastNamesIsDeclaredForClang) {
    Parsed parsed = parse_rules("on c:f {\n  count by (enum color)a, (enum color)b, (t*)c\n}");
    EXPECT_EQ(declarations_text(parsed.rules),
              "void mlbcc_cast_enum_20color(\n#line 2 \"a.rules\"\n            enum color);\n"
              "void mlbcc_cast_t_20_2a(\n#line 2 \"a.rules\"\n"
              "                                          t *);\n");
}

TEST(Expr, FilesAndTheBeginningsOfText) {
    EXPECT_EQ(tree("file_name(fd)"), "file_name(fd)");
    EXPECT_EQ(tree("starts_with(file_name(ret), \"nv\")"), "(file_name(ret) starts with \"nv\")");
    EXPECT_EQ(tree("!in_python(p + 1)"), "(!(in_python (p + 1)))");
    EXPECT_EQ(mistake("starts_with(comm)"), "expected `,`, found `)` at )");
}

TEST(Expr, Mistakes) {
    EXPECT_EQ(mistake("ret = 0"), "`=` does not compare at = (write `==`)");
    EXPECT_EQ(mistake("a +"), "expected an expression, found `}` at }");
    EXPECT_EQ(mistake("(a"), "expected `)`, found `}` at }");
    EXPECT_EQ(mistake("a[1"), "expected `]`, found `}` at }");
    EXPECT_EQ(mistake("a ? b"), "expected `:`, found `}` at }");
    EXPECT_EQ(mistake("a->"), "expected the name of a field, found `}` at }");
    EXPECT_EQ(mistake("a.5"), "expected the name of a field, found `5` at 5");
    EXPECT_EQ(mistake("size > 1 MiB"),
              "the unit `MiB` stands apart from its number at MiB (write `1MiB`)");
    EXPECT_EQ(mistake("a++"), "`++` changes a value, and a rule only reads at ++");
    EXPECT_EQ(mistake("a |= 2"), "`|=` changes a value, and a rule only reads at |=");
    EXPECT_EQ(mistake("sizeof(a)"),
              "`sizeof` is not a function of the rule language at sizeof "
              "(there are `arg(N)`, `str(pointer, N)`, `file_name(fd)`, `in_python(address)`, "
              "`demangle(text)`, `starts_with(text, \"...\")`, `ends_with(text, \"...\")`, "
              "`contains(text, \"...\")`, `size(table[key])`, "
              "`each(table[key])` and `now(gauge)`)");
    EXPECT_EQ(mistake("arg(x)"), "expected the number of an argument, found `x` at x");
    EXPECT_EQ(mistake("arg()"), "expected the number of an argument, found `)` at )");
    EXPECT_EQ(mistake("str()"), "expected an expression, found `)` at )");
    EXPECT_EQ(mistake("str(p, n)"), "expected the most bytes of the text, found `n` at n");
    EXPECT_EQ(mistake("a and b"),
              "`and` is not a clause at and (write `&&`) (the clauses are "
              "`where`, `let`, `span`, `event`, `count`, `sum`, `hist`, `largest`, "
              "`gauge`, `learn`, `forget`, `trace`, `stack`, `sample`, `each`)");
    EXPECT_EQ(mistake("a == 5Gb"), "`Gb` is not a unit at 5Gb (the units are `ns`, `us`, `ms`, "
                                   "`s`, `B`, `KiB`, `MiB`, `GiB`, `KB`, `MB`, `GB`) "
                                   "(a unit with a similar name exists: `GB`)");
    EXPECT_EQ(mistake("comm == \"py"), "the string is not closed at \"py (put `\"` at its end)");
    EXPECT_EQ(mistake("a == @"), "`@` has no meaning here at @");
}

std::string repeat(const std::string& text, size_t times) {
    std::string out;
    for (size_t i = 0; i < times; ++i) out += text;
    return out;
}

TEST(Expr, DepthHasALimit) {
    EXPECT_EQ(tree(repeat("(", 199) + "a" + repeat(")", 199)), "a");
    const std::string too_deep = "the expression is nested deeper than 200 levels at ";
    EXPECT_EQ(mistake(repeat("(", 20'000)), too_deep + "(");
    EXPECT_EQ(mistake(repeat("a[", 20'000)), too_deep + "a");
    EXPECT_EQ(mistake(repeat("!", 20'000)), too_deep + "!");
    EXPECT_EQ(mistake(repeat("str(", 20'000)), too_deep + "str");
    EXPECT_EQ(mistake(repeat("a ? ", 20'000)), too_deep + "a");
    EXPECT_EQ(mistake(repeat("a ? b : ", 20'000)), too_deep + "b");
}

TEST(Expr, SizeHasALimit) {
    EXPECT_EQ(tree("a" + repeat(" + a", 500)).size(), 1 + 500 * 6u);
    const std::string too_large = "the expression has more than 500 operators at ";
    EXPECT_EQ(mistake("a" + repeat(" + a", 20'000)), too_large + "+");
    EXPECT_EQ(mistake("a" + repeat("->b", 20'000)), too_large + "->");
    EXPECT_EQ(mistake("a" + repeat("[1]", 20'000)), too_large + "[");
}

TEST(Expr, SpansCoverTheWhole) {
    Parsed parsed = parse_rules("on c:f { count where (a + b) * p->q[2] }");
    const Expr& expr = *parsed.rules.rules.at(0).where.at(0);
    EXPECT_EQ(expr.span.text(), "(a + b) * p->q[2]");
    const auto& product = std::get<BinaryExpr>(expr.node);
    EXPECT_EQ(product.left->span.text(), "(a + b)");
    EXPECT_EQ(product.right->span.text(), "p->q[2]");
    const auto& index = std::get<IndexExpr>(product.right->node);
    EXPECT_EQ(index.object->span.text(), "p->q");
    EXPECT_EQ(std::get<MemberExpr>(index.object->node).field_span.text(), "q");
}

}  // namespace
}  // namespace mlbcc::rules
