// A walk over the tokens of one file, one token ahead, with the errors that every part of the
// parser makes: "expected `{`, found `count`". A parsing function that returns false or null has
// reported why.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rules/lexer.h"
#include "rules/rules.h"
#include "text/diagnostic.h"

namespace mlbcc::rules {

class Cursor {
public:
    Cursor(const SourceFile& file, Diagnostics& diagnostics);

    const Token& token() const { return token_; }  // the next one, not yet taken
    Token peek();                                  // the one behind it
    Token take();
    const Token& last() const { return last_; }  // the one taken last
    void rewind(uint32_t offset);                // to a token that begins there

    bool at(TokenKind kind) const { return token_.kind == kind; }
    bool at_word(std::string_view word) const { return token_.is_word(word); }
    bool accept(TokenKind kind);
    bool accept_word(std::string_view word);
    bool expect(TokenKind kind, std::string_view wanted);
    bool expect_word(std::string_view word);
    std::optional<std::string> expect_name(std::string_view wanted);
    std::optional<std::string> expect_string(std::string_view wanted);
    // Patterns have characters that are operators elsewhere; a string may stand for one.
    std::optional<Token> expect_glob(std::string_view wanted);

    Diagnostic& error(Span span, std::string message) {
        return diagnostics_.error(span, std::move(message));
    }
    // "expected WANTED, found `TOKEN`"; where the token is broken in itself, that is said instead.
    Diagnostic& unexpected(std::string_view wanted);
    Diagnostics& diagnostics() { return diagnostics_; }
    // So many errors in one file that nobody reads more: rubbish, which must not take long.
    bool is_rubbish() const { return diagnostics_.error_count() > errors_before_ + kManyErrors; }

    uint32_t begin() const { return token_.span.begin; }
    Span since(uint32_t begin) const { return {&file_, begin, last_.span.end}; }
    // How many `(` and `[` are open since the last reset: where a mistake ends.
    int nesting() const { return nesting_; }
    void reset_nesting() { nesting_ = 0; }

    void add_cast(Cast cast) { casts_.push_back(std::move(cast)); }
    std::vector<Cast> take_casts() { return std::move(casts_); }

private:
    static constexpr size_t kManyErrors = 100;

    Diagnostic& broken(const Token& token);

    const SourceFile& file_;
    Diagnostics& diagnostics_;
    size_t errors_before_;
    Lexer lexer_;
    Token token_, last_;
    std::optional<Token> behind_;  // what peek() has read
    int nesting_ = 0;
    std::vector<Cast> casts_;
};

}  // namespace mlbcc::rules
