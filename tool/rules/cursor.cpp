#include "rules/cursor.h"

#include <fmt/format.h>

namespace mlbcc::rules {

namespace {

constexpr size_t kMaxShownToken = 40;  // bytes of a token in a message

std::string found(const Token& token) {
    if (token.kind == TokenKind::end) return "the end of the file";
    std::string_view text = token.text();
    if (text.size() > kMaxShownToken && token.kind == TokenKind::string) return "a string";
    if (text.size() > kMaxShownToken) return fmt::format("`{}...`", text.substr(0, kMaxShownToken));
    return fmt::format("`{}`", text);
}

}  // namespace

Cursor::Cursor(const SourceFile& file, Diagnostics& diagnostics)
    : file_(file), diagnostics_(diagnostics), errors_before_(diagnostics.error_count()),
      lexer_(file), token_(lexer_.next()) {
    last_.span = {&file, 0, 0};
}

Token Cursor::peek() {
    if (!behind_) behind_ = lexer_.next();
    return *behind_;
}

Token Cursor::take() {
    TokenKind kind = token_.kind;
    if (kind == TokenKind::left_paren || kind == TokenKind::left_bracket) ++nesting_;
    if (kind == TokenKind::right_paren || kind == TokenKind::right_bracket) --nesting_;
    if (kind == TokenKind::end) return token_;
    last_ = std::move(token_);
    token_ = behind_ ? std::move(*behind_) : lexer_.next();
    behind_.reset();
    return last_;
}

void Cursor::rewind(uint32_t offset) {
    lexer_.rewind(offset);
    behind_.reset();
    token_ = lexer_.next();
}

bool Cursor::accept(TokenKind kind) {
    if (!at(kind)) return false;
    take();
    return true;
}

bool Cursor::accept_word(std::string_view word) {
    if (!at_word(word)) return false;
    take();
    return true;
}

bool Cursor::expect(TokenKind kind, std::string_view wanted) {
    if (accept(kind)) return true;
    unexpected(wanted);
    return false;
}

bool Cursor::expect_word(std::string_view word) {
    if (accept_word(word)) return true;
    unexpected(fmt::format("`{}`", word));
    return false;
}

std::optional<std::string> Cursor::expect_name(std::string_view wanted) {
    if (at(TokenKind::name)) return std::string(take().text());
    unexpected(wanted);
    return std::nullopt;
}

std::optional<std::string> Cursor::expect_string(std::string_view wanted) {
    if (at(TokenKind::name)) {
        unexpected(wanted).help(fmt::format("put it in quotes: `\"{}\"`", token_.text()));
        return std::nullopt;
    }
    if (!at(TokenKind::string)) {
        unexpected(wanted);
        return std::nullopt;
    }
    if (token_.characters().empty()) {
        error(token_.span, fmt::format("expected {}, found an empty string", wanted));
        return std::nullopt;
    }
    return take().characters();
}

std::optional<Token> Cursor::expect_glob(std::string_view wanted) {
    if (at(TokenKind::string)) {
        Token token = token_;
        if (!expect_string(wanted)) return std::nullopt;
        return token;
    }
    Token glob = lexer_.glob_at(begin());
    if (glob.kind == TokenKind::end) {
        rewind(begin());
        unexpected(wanted);
        return std::nullopt;
    }
    behind_.reset();
    token_ = glob;
    if (glob.kind == TokenKind::error) {
        broken(glob);
        return std::nullopt;
    }
    return take();
}

Diagnostic& Cursor::unexpected(std::string_view wanted) {
    if (at(TokenKind::error)) return broken(token_);
    Span span = token_.span;
    if (at(TokenKind::end)) span = {&file_, last_.span.end, last_.span.end};
    return error(span, fmt::format("expected {}, found {}", wanted, found(token_)));
}

Diagnostic& Cursor::broken(const Token& token) {
    const LiteralError& why = token.error();
    Diagnostic& diagnostic = error(token.span, why.message);
    if (!why.note.empty()) diagnostic.note(why.note);
    if (!why.help.empty()) diagnostic.help(why.help);
    return diagnostic;
}

}  // namespace mlbcc::rules
