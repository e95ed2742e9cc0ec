// Whether a parenthesis begins a cast: "(enum color)", "(const struct request *)", "(size_t)".
// Types are not known yet, so of a single name it is decided by what follows.
#include <algorithm>
#include <array>

#include "rules/parser.h"

namespace mlbcc::rules {

namespace {

constexpr std::array<std::string_view, 15> kTypeWords{
    "struct", "union", "enum", "const", "volatile", "unsigned", "signed", "char",
    "short",  "int",   "long", "bool",  "_Bool",    "float",    "double"};

bool is_type_word(const Token& token) {
    return std::ranges::find(kTypeWords, token.text()) != kTypeWords.end();
}

// What may stand behind a star: `(a * b)` is a product.
bool is_qualifier(const Token& token) {
    return token.is_word("const") || token.is_word("volatile");
}

// `(found) event` is a condition and a clause.
bool is_next_clause(const Token& token) {
    return token.first_on_line || is_clause_word(token.text()) || token.is_word("by") ||
           token.is_word("as");
}

// `sure`: what stood in the parentheses can only be a type, so `*p` is its operand, not a factor.
bool begins_operand(const Token& token, bool sure) {
    static constexpr std::array kAlways{TokenKind::number, TokenKind::character,
                                        TokenKind::left_paren, TokenKind::tilde, TokenKind::bang};
    static constexpr std::array kBehindTypes{TokenKind::star, TokenKind::ampersand,
                                             TokenKind::minus, TokenKind::plus};
    if (token.kind == TokenKind::name) return sure || !is_next_clause(token);
    if (std::ranges::find(kAlways, token.kind) != kAlways.end()) return true;
    return sure && std::ranges::find(kBehindTypes, token.kind) != kBehindTypes.end();
}

}  // namespace

std::optional<CastHead> scan_cast(const Span& from) {
    Lexer lexer(*from.file);
    lexer.rewind(from.begin);
    lexer.next();  // the parenthesis
    CastHead head;
    bool pointer = false, word = false;
    size_t names = 0;
    Token token = lexer.next();
    uint32_t begin = token.span.begin;
    for (; token.kind == TokenKind::name || token.kind == TokenKind::star; token = lexer.next()) {
        if (token.kind == TokenKind::star && names == 0) return std::nullopt;
        pointer |= token.kind == TokenKind::star;
        if (token.kind == TokenKind::name && pointer && !is_qualifier(token)) return std::nullopt;
        word |= token.kind == TokenKind::name && is_type_word(token);
        names += token.kind == TokenKind::name ? 1 : 0;
        bool after_star = head.type.ends_with('*') && token.kind == TokenKind::star;
        head.type += (head.type.empty() || after_star ? "" : " ") + std::string(token.text());
        head.span = {from.file, begin, token.span.end};
        ++head.tokens;
    }
    bool sure = word || pointer;
    if (names == 0 || token.kind != TokenKind::right_paren) return std::nullopt;
    if (names > 1 && !word) return std::nullopt;  // (a b)
    return begins_operand(lexer.next(), sure) ? std::make_optional(std::move(head)) : std::nullopt;
}

}  // namespace mlbcc::rules
