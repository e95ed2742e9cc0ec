// The fields of a record: "(args, size = bytesize, *dptr)".
#include <fmt/format.h>

#include <set>

#include "rules/parser.h"

namespace mlbcc::rules {

namespace {

// A field without a name is called as it is written, on one line and without comments.
std::string derived_name(Span span) {
    Lexer lexer(*span.file);
    lexer.rewind(span.begin);
    std::string name;
    uint32_t end = span.begin;
    for (Token token = lexer.next(); token.span.begin < span.end; token = lexer.next()) {
        if (token.kind == TokenKind::end) break;
        if (token.span.begin > end && !name.empty()) name += ' ';
        name += token.text();
        end = token.span.end;
    }
    return name;
}

void check_field_names(Cursor& cursor, const std::vector<Field>& fields) {
    std::set<std::string_view> names;
    for (const Field& field : fields) {
        if (names.insert(field.name).second) continue;
        auto& error =
            cursor.error(field.span, fmt::format("there are two fields `{}`", field.name));
        if (field.is_args()) continue;
        error.help(
            fmt::format("give this one another name: `NAME = {}`", field.value->span.text()));
    }
}

}  // namespace

bool parse_field(Cursor& cursor, Field& field) {
    uint32_t begin = cursor.begin();
    TokenKind behind = cursor.peek().kind;
    if (cursor.at_word("args") &&
        (behind == TokenKind::comma || behind == TokenKind::right_paren)) {
        field.name = cursor.take().text();
        field.span = cursor.since(begin);
        return true;
    }
    bool named = cursor.at(TokenKind::name) && behind == TokenKind::assign;
    if (named) {
        field.name = cursor.take().text();
        cursor.take();
    }
    field.value = parse_expr(cursor);
    if (!field.value) return false;
    field.span = cursor.since(begin);
    if (!named) field.name = derived_name(field.value->span);
    return true;
}

bool parse_fields(Cursor& cursor, std::vector<Field>& fields) {
    if (!cursor.accept(TokenKind::left_paren)) return true;
    if (cursor.accept(TokenKind::right_paren)) return true;
    do {
        Field field;
        if (!parse_field(cursor, field)) return false;
        fields.push_back(std::move(field));
    } while (cursor.accept(TokenKind::comma));
    if (!cursor.expect(TokenKind::right_paren, "`,` or `)`")) return false;
    check_field_names(cursor, fields);
    return true;
}

}  // namespace mlbcc::rules
