// What stands before the braces of `each i in 0..8 { ... }`.
#include <fmt/format.h>

#include "rules/parser.h"

namespace mlbcc::rules {

namespace {

constexpr uint64_t kMost = 16;  // numbers of one `each`: each is a rule of the function

std::optional<uint64_t> parse_end(Cursor& cursor) {
    const bool is_plain =
        cursor.at(TokenKind::number) && cursor.token().number().unit == Unit::none;
    if (is_plain) return cursor.take().number().value;
    cursor.unexpected("a number")
        .help("write the most that there can be, as `0..8`, and limit it by a `where` inside the "
              "braces");
    return std::nullopt;
}

}  // namespace

std::optional<Each> parse_each_head(Cursor& cursor) {
    cursor.take();
    Each each;
    each.span = cursor.token().span;
    auto name = cursor.expect_name("a name for the number");
    if (!name || !cursor.expect_word("in")) return std::nullopt;
    each.name = std::move(*name);
    const uint32_t begin = cursor.begin();
    auto first = parse_end(cursor);
    if (!first || !cursor.expect(TokenKind::dots, "`..`")) return std::nullopt;
    auto end = parse_end(cursor);
    if (!end) return std::nullopt;
    each.first = *first;
    each.end = *end;
    const Span range = cursor.since(begin);
    if (each.end <= each.first) {
        cursor.error(range, fmt::format("there is no number in {}", range.text()))
            .help("the end is excluded: `0..8` is 0 to 7");
        return std::nullopt;
    }
    if (each.end - each.first > kMost) {
        cursor.error(range, fmt::format("{} is more than {} numbers", range.text(), kMost))
            .note("each number is a rule of its own for the same functions");
        return std::nullopt;
    }
    if (cursor.at(TokenKind::left_brace)) return each;
    cursor.unexpected("`{`");
    return std::nullopt;
}

Let let_of(const Each& each, uint64_t number) {
    auto value = std::make_unique<Expr>();
    value->span = each.span;
    value->node = NumberExpr{.value = number};
    return {each.name, std::move(value), each.span};
}

}  // namespace mlbcc::rules
