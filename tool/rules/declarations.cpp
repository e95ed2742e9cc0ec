// C text within a rule file: where it ends, and how libclang gets to see it.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>

#include "rules/parser.h"

namespace mlbcc::rules {

namespace {

// Walks over one declaration; `depth_` counts brackets of every kind.
class DeclarationScan {
public:
    explicit DeclarationScan(Cursor& cursor) : cursor_(cursor) {}
    DeclarationEnd run();

private:
    bool can_follow() const;
    bool begins_body() const;
    void take();

    Cursor& cursor_;
    int depth_ = 0;
    bool attribute_ = false;  // the parentheses taken last belong to `__attribute__` or the like
};

bool opens(TokenKind kind) {
    return kind == TokenKind::left_paren || kind == TokenKind::left_bracket ||
           kind == TokenKind::left_brace;
}

bool closes(TokenKind kind) {
    return kind == TokenKind::right_paren || kind == TokenKind::right_bracket ||
           kind == TokenKind::right_brace;
}

bool takes_parentheses(const Token& token) {
    return token.is_word("__attribute__") || token.is_word("__attribute") ||
           token.is_word("_Alignas") || token.is_word("__declspec") || token.is_word("__asm__");
}

// Outside of brackets a prototype, typedef, enum or struct has names, stars and commas; all else,
// such as
// `=`, `:` or a string, belongs to something else. Inside, anything may stand: libclang judges it.
bool DeclarationScan::can_follow() const {
    TokenKind kind = cursor_.token().kind;
    if (kind == TokenKind::end) return false;
    if (depth_ > 0) return true;
    return kind == TokenKind::name || kind == TokenKind::star || kind == TokenKind::comma ||
           opens(kind);
}

// "int f(int a) {"
bool DeclarationScan::begins_body() const {
    return depth_ == 0 && cursor_.at(TokenKind::left_brace) && !attribute_ &&
           cursor_.last().kind == TokenKind::right_paren;
}

void DeclarationScan::take() {
    TokenKind kind = cursor_.token().kind;
    if (depth_ == 0 && kind == TokenKind::left_paren)
        attribute_ = takes_parentheses(cursor_.last());
    if (opens(kind)) ++depth_;
    if (closes(kind)) --depth_;
    cursor_.take();
}

DeclarationEnd DeclarationScan::run() {
    take();
    while (depth_ > 0 || !cursor_.accept(TokenKind::semicolon)) {
        if (!can_follow() || begins_statement(cursor_)) return DeclarationEnd::broken;
        if (begins_body()) return DeclarationEnd::body;
        take();
    }
    return DeclarationEnd::complete;
}

// How long the comment is that begins `rest`, 0 if none does.
size_t comment_length(std::string_view rest) {
    if (rest.starts_with("//") || rest.starts_with('#'))
        return std::min(rest.find('\n'), rest.size());
    if (!rest.starts_with("/*")) return 0;
    size_t end = rest.find("*/", 2);
    return end == std::string_view::npos ? rest.size() : end + 2;
}

// Between two tokens there are only blanks and comments; one that begins with `#` is none in C.
void blank_rule_comments(std::string& text, size_t begin, size_t end) {
    while (begin < end) {
        size_t length = comment_length(std::string_view(text).substr(begin, end - begin));
        if (length > 0 && text[begin] == '#') text.replace(begin, length, length, ' ');
        begin += length > 0 ? length : 1;
    }
}

std::string escaped(std::string_view path) {
    std::string out;
    for (char c : path) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

}  // namespace

DeclarationEnd scan_declaration(Cursor& cursor) {
    return DeclarationScan(cursor).run();
}

std::string declaration_text(Span span) {
    std::string text(span.text());
    Lexer lexer(*span.file);
    lexer.rewind(span.begin);
    uint32_t end = span.begin;
    for (Token token = lexer.next(); token.span.begin < span.end; token = lexer.next()) {
        blank_rule_comments(text, end - span.begin, token.span.begin - span.begin);
        if (token.kind == TokenKind::end) break;
        end = token.span.end;
    }
    return text;
}

// "enum color *" -> "mlbcc_cast_enum_20color_20_2a"
std::string cast_prototype(std::string_view type) {
    std::string out = kCastPrefix;
    for (char c : type) {
        bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
        out += plain ? std::string(1, c) : fmt::format("_{:02x}", static_cast<unsigned char>(c));
    }
    return out;
}

std::string declarations_text(const RuleSet& rules) {
    std::string out;
    for (const Declaration& declaration : rules.declarations) {
        Place place = declaration.span.where();
        fmt::format_to(std::back_inserter(out), "#line {} \"{}\"\n{:{}}{}\n", place.line,
                       escaped(place.path), "", place.column - 1, declaration.text);
    }
    std::set<std::string> known;
    for (const Cast& cast : rules.casts) {
        std::string name = cast_prototype(cast.type);
        if (!known.insert(name).second) continue;
        Place place = cast.span.where();
        // The type stands where it does in the rule file, for the sake of clang's messages.
        fmt::format_to(std::back_inserter(out), "void {}(\n#line {} \"{}\"\n{:{}}{});\n", name,
                       place.line, escaped(place.path), "", place.column - 1, cast.type);
    }
    return out;
}

}  // namespace mlbcc::rules
