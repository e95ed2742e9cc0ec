// "largest 10 by gap = gap[tid] as "Longest gaps" (until = function)"
#include <fmt/format.h>

#include "rules/parser.h"

namespace mlbcc::rules {
namespace {

// Nullopt where there is no number; one that cannot be is told, and parsing goes on.
std::optional<uint32_t> parse_how_many(Cursor& cursor) {
    if (!cursor.at(TokenKind::number)) {
        cursor.unexpected("how many are kept").help("write `largest 10 by VALUE as \"TITLE\"`");
        return std::nullopt;
    }
    NumberExpr number = cursor.take().number();
    if (number.unit == Unit::none && number.value > 0 && number.value <= kMaxLargest) {
        return static_cast<uint32_t>(number.value);
    }
    Span span = cursor.last().span;
    cursor.error(span, fmt::format("expected how many to keep, found `{}`", span.text()))
        .help(fmt::format("write a number from 1 to {}", kMaxLargest));
    return 1;
}

bool parse_measure(Cursor& cursor, Field& by) {
    if (!cursor.expect_word("by") || !parse_field(cursor, by)) return false;
    if (!by.is_args()) return true;
    cursor.error(by.span, "`args` is several values; `largest` compares one")
        .help("name the parameter");
    return false;
}

bool parse_title(Cursor& cursor, LargestClause& clause) {
    if (!cursor.accept_word("as")) {
        cursor.error(clause.by.span, "a list of the largest needs a title")
            .help(fmt::format("write `by {} as \"TITLE\"`", clause.by.span.text()));
        return true;
    }
    auto title = cursor.expect_string("a title in quotes");
    if (!title) return false;
    clause.title = std::move(*title);
    return true;
}

}  // namespace

bool parse_largest(Cursor& cursor, Rule& rule, uint32_t begin) {
    LargestClause clause;
    auto count = parse_how_many(cursor);
    if (!count || !parse_measure(cursor, clause.by)) return false;
    clause.count = *count;
    if (!parse_title(cursor, clause) || !parse_fields(cursor, clause.fields)) return false;
    rule.clauses.push_back({cursor.since(begin), std::move(clause)});
    return true;
}

}  // namespace mlbcc::rules
