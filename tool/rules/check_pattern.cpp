// Checks comparisons of text with a part of it, or with a pattern.
#include <fmt/format.h>

#include "rules/checker.h"
#include "text/glob.h"

namespace mlbcc::rules {
namespace {

// What a parameter's text is read of, where no str(p, N) says how much: paths are longer than
// names.
constexpr uint32_t kLength = 256;

const char* how_written(BinaryOp op) {
    switch (op) {
    case BinaryOp::ends_with: return "ends_with(filename, \".json\")";
    case BinaryOp::contains: return "contains(filename, \"cache\")";
    case BinaryOp::matches: return "filename ~ \"*.json\"";
    default: return "starts_with(comm, \"python\")";
    }
}

// The end of one is the beginning of the other: "ab*ba" is not "aba".
bool overlap(const std::string& begin, const std::string& end) {
    for (size_t i = 1; i <= std::min(begin.size(), end.size()); ++i) {
        if (std::string_view(begin).substr(begin.size() - i) == std::string_view(end).substr(0, i))
            return true;
    }
    return false;
}

}  // namespace

bool is_of_text(BinaryOp op) {
    return op == BinaryOp::starts_with || op == BinaryOp::ends_with || op == BinaryOp::contains ||
           op == BinaryOp::matches;
}

bool text_holds(BinaryOp op, std::string_view text, std::string_view literal) {
    switch (op) {
    case BinaryOp::starts_with: return text.starts_with(literal);
    case BinaryOp::ends_with: return text.ends_with(literal);
    case BinaryOp::contains: return text.find(literal) != std::string_view::npos;
    case BinaryOp::matches: return glob_match(literal, text);
    default: return (text == literal) == (op == BinaryOp::eq);
    }
}

TypedPtr Checker::part_of_text(BinaryOp op, const TypedPtr& left, const TypedPtr& right,
                               const Expr& expr) {
    const TypedPtr text = decay_to_text(left, op == BinaryOp::starts_with ? 64 : kLength);
    const auto* literal = std::get_if<TextLeaf>(&right->node);
    if (literal == nullptr || !text->is_text() || std::holds_alternative<TextLeaf>(text->node)) {
        const std::string how = how_written(op);
        const std::string name = op == BinaryOp::matches ? "~" : how.substr(0, how.find('('));
        diagnostics_.error(expr.span, fmt::format("`{}` compares text with a string", name))
            .help(fmt::format("write it as `{}`", how));
        return fail();
    }
    if (!as_written(text, expr)) return fail();
    if (text->show == Show::function || text->show == Show::symbol) {  // decided right here
        const std::string& name = text->show == Show::function ? scope_.function : scope_.symbol;
        return make({.node = ConstLeaf{text_holds(op, name, literal->text) ? 1u : 0u, Unit::none},
                     .show = Show::boolean,
                     .span = expr.span});
    }
    return op == BinaryOp::matches ? matches(text, literal->text, expr)
                                   : of_text(op, text, literal->text, expr);
}

// The kernel compares beginnings and ends; the rest is the tracer's.
TypedPtr Checker::of_text(BinaryOp op, const TypedPtr& text, std::string literal,
                          const Expr& expr) {
    TypedPtr leaf = make({.node = TextLeaf{std::move(literal)}, .show = Show::text});
    return make({.node = BinaryNode{op, text, leaf},
                 .stage = text->stage,
                 .show = Show::boolean,
                 .in_tracer = op == BinaryOp::contains || op == BinaryOp::matches,
                 .span = expr.span});
}

TypedPtr Checker::matches(const TypedPtr& text, const std::string& pattern, const Expr& expr) {
    const size_t first = pattern.find('*'), last = pattern.rfind('*');
    const bool is_plain = pattern.find_first_of("?[") == std::string::npos;
    if (is_plain && first == std::string::npos) return of_text(BinaryOp::eq, text, pattern, expr);
    if (!is_plain) return of_text(BinaryOp::matches, text, pattern, expr);
    const std::string begin = pattern.substr(0, first), end = pattern.substr(last + 1);
    if (first != last) {
        const std::string between = pattern.substr(first + 1, last - first - 1);
        const bool is_one = begin.empty() && end.empty() && between.find('*') == std::string::npos;
        return is_one ? of_text(BinaryOp::contains, text, between, expr)
                      : of_text(BinaryOp::matches, text, pattern, expr);
    }
    if (end.empty()) return of_text(BinaryOp::starts_with, text, begin, expr);
    if (begin.empty()) return of_text(BinaryOp::ends_with, text, end, expr);
    if (overlap(begin, end)) return of_text(BinaryOp::matches, text, pattern, expr);
    const TypedPtr begins = of_text(BinaryOp::starts_with, text, begin, expr);
    return make({.node = BinaryNode{BinaryOp::logical_and, begins,
                                    of_text(BinaryOp::ends_with, text, end, expr)},
                 .stage = text->stage,
                 .show = Show::boolean,
                 .span = expr.span});
}

}  // namespace mlbcc::rules
