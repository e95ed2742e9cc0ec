#include "rules/lexer.h"

#include <array>

namespace mlbcc::rules {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_name_begin(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
bool is_name_char(char c) {
    return is_name_begin(c) || is_digit(c);
}
bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct Punctuator {
    std::string_view text;
    TokenKind kind;
};

// clang-format off
constexpr auto kPunctuators = std::to_array<Punctuator>({  // the longer one first
    {"<<=", TokenKind::other_assign}, {">>=", TokenKind::other_assign},
    {"*=", TokenKind::other_assign}, {"/=", TokenKind::other_assign}, {"%=", TokenKind::other_assign},
    {"&=", TokenKind::other_assign}, {"|=", TokenKind::other_assign}, {"^=", TokenKind::other_assign},
    {"+=", TokenKind::plus_assign}, {"-=", TokenKind::minus_assign}, {"->", TokenKind::arrow},
    {"++", TokenKind::increment}, {"--", TokenKind::increment},
    {"<<", TokenKind::shift_left}, {">>", TokenKind::shift_right},
    {"<=", TokenKind::less_equal}, {">=", TokenKind::greater_equal},
    {"==", TokenKind::equal}, {"!=", TokenKind::not_equal},
    {"&&", TokenKind::and_and}, {"||", TokenKind::or_or},
    {"{", TokenKind::left_brace}, {"}", TokenKind::right_brace},
    {"(", TokenKind::left_paren}, {")", TokenKind::right_paren},
    {"[", TokenKind::left_bracket}, {"]", TokenKind::right_bracket},
    {",", TokenKind::comma}, {":", TokenKind::colon}, {";", TokenKind::semicolon},
    {"..", TokenKind::dots}, {".", TokenKind::dot}, {"?", TokenKind::question}, {"=", TokenKind::assign},
    {"+", TokenKind::plus}, {"-", TokenKind::minus}, {"*", TokenKind::star},
    {"/", TokenKind::slash}, {"%", TokenKind::percent}, {"&", TokenKind::ampersand},
    {"|", TokenKind::pipe}, {"^", TokenKind::caret}, {"~", TokenKind::tilde},
    {"!", TokenKind::bang}, {"<", TokenKind::less}, {">", TokenKind::greater},
});
// clang-format on

// Only white space between the beginning of the line and `begin`.
bool is_first_on_line(std::string_view text, uint32_t begin) {
    while (begin > 0 && text[begin - 1] != '\n') {
        if (!is_space(text[--begin])) return false;
    }
    return true;
}

// The length of the UTF-8 character that begins with `c`.
uint32_t character_length(char c) {
    auto byte = static_cast<unsigned char>(c);
    return byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
}

}  // namespace

char Lexer::peek(uint32_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
}

Token Lexer::token(TokenKind kind, uint32_t begin) const {
    return {kind, Span{file_, begin, at_}, is_first_on_line(text_, begin), {}};
}

Token Lexer::error(uint32_t begin, LiteralError why) const {
    Token out = token(TokenKind::error, begin);
    out.value = std::move(why);
    return out;
}

void Lexer::skip_line() {
    size_t end = text_.find('\n', at_);
    at_ = static_cast<uint32_t>(end == std::string_view::npos ? text_.size() : end);
}

// False at a comment `/*` that is never closed.
bool Lexer::skip_blanks() {
    while (at_ < text_.size()) {
        if (is_space(peek())) {
            ++at_;
        } else if (peek() == '#' || (peek() == '/' && peek(1) == '/')) {
            skip_line();
        } else if (peek() == '/' && peek(1) == '*') {
            size_t end = text_.find("*/", at_ + 2);
            if (end == std::string_view::npos) return false;
            at_ = static_cast<uint32_t>(end + 2);
        } else {
            break;
        }
    }
    return true;
}

Token Lexer::next() {
    if (!skip_blanks()) {
        uint32_t begin = at_;
        at_ += 2;
        Token out = error(begin, {"the comment is not closed", "", "put `*/` at its end"});
        at_ = static_cast<uint32_t>(text_.size());
        return out;
    }
    if (at_ >= text_.size()) return token(TokenKind::end, at_);
    if (is_name_begin(peek())) return name();
    if (is_digit(peek())) return number();
    if (peek() == '"' || peek() == '\'') return quoted();
    return punctuation();
}

Token Lexer::name() {
    uint32_t begin = at_;
    while (is_name_char(peek())) ++at_;
    return token(TokenKind::name, begin);
}

// "0x1F", "1.5ms": all that hangs together, right or wrong.
Token Lexer::number() {
    uint32_t begin = at_;
    while (is_name_char(peek()) || (peek() == '.' && is_digit(peek(1)))) ++at_;
    auto value = read_number(text_.substr(begin, at_ - begin));
    if (auto* why = std::get_if<LiteralError>(&value)) return error(begin, std::move(*why));
    Token out = token(TokenKind::number, begin);
    out.value = std::get<NumberExpr>(value);
    return out;
}

Token Lexer::quoted() {
    uint32_t begin = at_;
    char quote = peek();
    for (++at_; peek() != quote; ++at_) {
        if (peek() == '\\' && at_ + 1 < text_.size() && peek(1) != '\n') ++at_;
        if (at_ >= text_.size() || peek() == '\n') {
            bool is_string = quote == '"';
            return error(begin,
                         {is_string ? "the string is not closed" : "the character is not closed",
                          "", is_string ? "put `\"` at its end" : "put `'` behind it"});
        }
    }
    ++at_;
    auto value = read_quoted(text_.substr(begin, at_ - begin));
    if (auto* why = std::get_if<LiteralError>(&value)) return error(begin, std::move(*why));
    Token out = token(quote == '"' ? TokenKind::string : TokenKind::character, begin);
    out.value = std::get<std::string>(std::move(value));
    return out;
}

Token Lexer::punctuation() {
    uint32_t begin = at_;
    std::string_view rest = text_.substr(at_);
    for (const Punctuator& punctuator : kPunctuators) {
        if (!rest.starts_with(punctuator.text)) continue;
        at_ += static_cast<uint32_t>(punctuator.text.size());
        return token(punctuator.kind, begin);
    }
    std::string character(rest.substr(0, character_length(rest[0])));
    at_ += static_cast<uint32_t>(character.size());
    bool is_quote = character == "\u201c" || character == "\u201d" || character == "\u201e";
    return error(begin, {"`" + character + "` has no meaning here", "",
                         is_quote ? "write a straight quote: `\"`" : ""});
}

// How many characters of a pattern stand here: 2 of `::`, and of a destructor's `~` behind it 1.
uint32_t Lexer::glob_part() const {
    const char c = peek();
    if (c == ':' && peek(1) == ':') return 2;
    const bool destructor = c == '~' && at_ > 0 && text_[at_ - 1] == ':';
    const bool wildcard = c == '*' || c == '?' || c == '.' || c == '[';
    return is_name_char(c) || wildcard || destructor ? 1 : 0;
}

Token Lexer::glob_at(uint32_t offset) {
    at_ = offset;
    for (uint32_t length = glob_part(); length > 0; length = glob_part()) {
        const char c = peek();
        at_ += length;
        if (c != '[') continue;
        size_t close = text_.find_first_of("] \t\r\n{,", at_ + 1);  // `]` may stand first in a set
        if (close == std::string_view::npos || text_[close] != ']') {
            --at_;
            uint32_t begin = at_++;
            return error(begin, {"`[` is not closed in the pattern", "", "put `]` behind the set"});
        }
        at_ = static_cast<uint32_t>(close + 1);
    }
    if (at_ == offset) return token(TokenKind::end, offset);
    Token out = token(TokenKind::glob, offset);
    out.value = std::string(out.text());
    return out;
}

}  // namespace mlbcc::rules
