// Rule text to tokens. Comments (`# ...`, `// ...`, `/* ... */`) and white space fall out; what is
// no token (a string without its end, `5Mb`, `@`) becomes an error token that says why, so that the
// parser can go on behind it. No word is a keyword here: a parameter may be called `count`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "rules/literals.h"
#include "rules/rules.h"
#include "text/diagnostic.h"

namespace mlbcc::rules {

// clang-format off
enum class TokenKind {
    end, error, name, number, string, character, glob,
    left_brace, right_brace, left_paren, right_paren, left_bracket, right_bracket,
    comma, colon, semicolon, dot, dots, arrow, question,
    assign, plus_assign, minus_assign, other_assign, increment,
    plus, minus, star, slash, percent, ampersand, pipe, caret, tilde, bang,
    shift_left, shift_right, less, less_equal, greater, greater_equal, equal, not_equal,
    and_and, or_or
};
// clang-format on

struct Token {
    TokenKind kind = TokenKind::end;
    Span span;
    bool first_on_line = false;
    // number: NumberExpr; string, character and glob: the characters meant; error: why.
    std::variant<std::monostate, NumberExpr, std::string, LiteralError> value;

    std::string_view text() const { return span.text(); }  // as it is written
    const NumberExpr& number() const { return std::get<NumberExpr>(value); }
    const std::string& characters() const { return std::get<std::string>(value); }
    const LiteralError& error() const { return std::get<LiteralError>(value); }
    bool is_word(std::string_view word) const { return kind == TokenKind::name && text() == word; }
};

class Lexer {
public:
    explicit Lexer(const SourceFile& file) : file_(&file), text_(file.text()) {}

    Token next();
    // A pattern over names (`cu*`, `[a-c]?.part`, `at::*`) that begins at `offset`; a token of kind
    // `end` and no length where none stands there. next() goes on behind it.
    Token glob_at(uint32_t offset);
    void rewind(uint32_t offset) { at_ = offset; }

private:
    uint32_t glob_part() const;
    char peek(uint32_t ahead = 0) const;
    bool skip_blanks();
    void skip_line();
    Token token(TokenKind kind, uint32_t begin) const;
    Token error(uint32_t begin, LiteralError why) const;
    Token name();
    Token number();
    Token quoted();
    Token punctuation();

    const SourceFile* file_;
    std::string_view text_;
    uint32_t at_ = 0;
};

}  // namespace mlbcc::rules
