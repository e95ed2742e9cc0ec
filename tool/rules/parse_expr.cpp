// Expressions: C's operators and precedence.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rules/parser.h"

namespace mlbcc::rules {

namespace {

constexpr uint32_t kMaxDepth = 200;      // of parentheses, brackets and prefix operators
constexpr uint32_t kMaxOperators = 500;  // of one expression: a bound on the height of its tree

struct BinaryRow {
    TokenKind token;
    BinaryOp op;
    int precedence;  // the higher binds more tightly
};
constexpr auto kBinary = std::to_array<BinaryRow>({
    {TokenKind::star, BinaryOp::mul, 10},         {TokenKind::slash, BinaryOp::div, 10},
    {TokenKind::percent, BinaryOp::mod, 10},      {TokenKind::plus, BinaryOp::add, 9},
    {TokenKind::minus, BinaryOp::sub, 9},         {TokenKind::shift_left, BinaryOp::shl, 8},
    {TokenKind::shift_right, BinaryOp::shr, 8},   {TokenKind::less, BinaryOp::lt, 7},
    {TokenKind::less_equal, BinaryOp::le, 7},     {TokenKind::greater, BinaryOp::gt, 7},
    {TokenKind::greater_equal, BinaryOp::ge, 7},  {TokenKind::equal, BinaryOp::eq, 6},
    {TokenKind::not_equal, BinaryOp::ne, 6},      {TokenKind::tilde, BinaryOp::matches, 6},
    {TokenKind::ampersand, BinaryOp::bit_and, 5}, {TokenKind::caret, BinaryOp::bit_xor, 4},
    {TokenKind::pipe, BinaryOp::bit_or, 3},       {TokenKind::and_and, BinaryOp::logical_and, 2},
    {TokenKind::or_or, BinaryOp::logical_or, 1},
});

struct PrefixRow {
    TokenKind token;
    UnaryOp op;
};
constexpr auto kPrefix = std::to_array<PrefixRow>({
    {TokenKind::star, UnaryOp::deref},
    {TokenKind::ampersand, UnaryOp::address},
    {TokenKind::minus, UnaryOp::minus},
    {TokenKind::plus, UnaryOp::plus},
    {TokenKind::tilde, UnaryOp::bit_not},
    {TokenKind::bang, UnaryOp::logical_not},
});

template <class Row, size_t N> const Row* find(const std::array<Row, N>& rows, TokenKind kind) {
    auto row =
        std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.token == kind; });
    return row == rows.end() ? nullptr : &*row;
}

class ExprParser {
public:
    explicit ExprParser(Cursor& cursor) : cursor_(cursor) {}
    ExprPtr conditional();

private:
    ExprPtr binary(int precedence);
    ExprPtr prefix();
    ExprPtr postfix();
    ExprPtr member(ExprPtr object, uint32_t begin);
    ExprPtr index(ExprPtr object, uint32_t begin);
    ExprPtr primary();
    ExprPtr parenthesised();
    ExprPtr number();
    ExprPtr name();
    ExprPtr call();
    ExprPtr arg(uint32_t begin);
    ExprPtr str(uint32_t begin);
    ExprPtr file_name(uint32_t begin);
    ExprPtr in_python(uint32_t begin);
    ExprPtr demangle(uint32_t begin);
    ExprPtr of_text(BinaryOp op, uint32_t begin);
    void warn_of_pattern(const BinaryExpr& node, Span span);
    ExprPtr learnt_part(LearntPart part, uint32_t begin);
    ExprPtr now(uint32_t begin);
    ExprPtr cast(CastHead head);
    std::optional<uint64_t> plain_number(std::string_view wanted);
    bool count_operator();
    bool too_deep();

    template <class Node> ExprPtr make(Node node, uint32_t begin) {
        return std::make_unique<Expr>(Expr{cursor_.since(begin), std::move(node)});
    }

    Cursor& cursor_;
    uint32_t depth_ = 0, operators_ = 0;
};

// Counts levels of recursion while it lives.
class Level {
public:
    explicit Level(uint32_t& depth) : depth_(depth) { ++depth_; }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

private:
    uint32_t& depth_;
};

bool ExprParser::too_deep() {
    if (depth_ <= kMaxDepth) return false;
    cursor_.error(cursor_.token().span,
                  fmt::format("the expression is nested deeper than {} levels", kMaxDepth));
    return true;
}

bool ExprParser::count_operator() {
    if (++operators_ <= kMaxOperators) return true;
    cursor_.error(cursor_.token().span,
                  fmt::format("the expression has more than {} operators", kMaxOperators));
    return false;
}

ExprPtr ExprParser::conditional() {
    Level level(depth_);
    if (too_deep()) return nullptr;
    uint32_t begin = cursor_.begin();
    ExprPtr condition = binary(1);
    if (!condition || !cursor_.at(TokenKind::question)) return condition;
    if (!count_operator()) return nullptr;
    cursor_.take();
    ExprPtr yes = conditional();
    if (!yes || !cursor_.expect(TokenKind::colon, "`:`")) return nullptr;
    ExprPtr no = conditional();
    if (!no) return nullptr;
    return make(ConditionalExpr{std::move(condition), std::move(yes), std::move(no)}, begin);
}

// Operators that bind as tightly as `precedence` or more.
ExprPtr ExprParser::binary(int precedence) {
    uint32_t begin = cursor_.begin();
    ExprPtr left = prefix();
    while (left) {
        const BinaryRow* row = find(kBinary, cursor_.token().kind);
        if (row == nullptr || row->precedence < precedence) return left;
        if (!count_operator()) return nullptr;
        cursor_.take();
        ExprPtr right = binary(row->precedence + 1);
        if (!right) return nullptr;
        BinaryExpr node{row->op, std::move(left), std::move(right)};
        warn_of_pattern(node, cursor_.since(begin));
        left = make(std::move(node), begin);
    }
    return nullptr;
}

void ExprParser::warn_of_pattern(const BinaryExpr& node, Span span) {
    if (node.op != BinaryOp::eq && node.op != BinaryOp::ne) return;
    for (const ExprPtr* side : {&node.left, &node.right}) {
        const auto* text = std::get_if<StringExpr>(&(*side)->node);
        if (text == nullptr || text->value.find('*') == std::string::npos) continue;
        const bool is_equal = node.op == BinaryOp::eq;
        cursor_.diagnostics()
            .warning(span, fmt::format("`{}` compares with the text as it is, `*` included",
                                       is_equal ? "==" : "!="))
            .help(is_equal ? "a pattern is matched by `~`: `comm ~ \"python*\"`"
                           : "a pattern is matched by `~`: `!(comm ~ \"python*\")`");
    }
}

ExprPtr ExprParser::prefix() {
    if (cursor_.at(TokenKind::left_paren)) {
        if (auto head = scan_cast(cursor_.token().span)) return cast(std::move(*head));
    }
    const PrefixRow* row = find(kPrefix, cursor_.token().kind);
    if (row == nullptr) return postfix();
    Level level(depth_);
    if (too_deep() || !count_operator()) return nullptr;
    uint32_t begin = cursor_.begin();
    cursor_.take();
    ExprPtr operand = prefix();
    if (!operand) return nullptr;
    return make(UnaryExpr{row->op, std::move(operand)}, begin);
}

ExprPtr ExprParser::cast(CastHead head) {
    Level level(depth_);
    if (too_deep() || !count_operator()) return nullptr;
    uint32_t begin = cursor_.begin();
    for (uint32_t i = 0; i < head.tokens + 2; ++i) cursor_.take();
    ExprPtr operand = prefix();
    if (!operand) return nullptr;
    cursor_.add_cast({head.type, head.span});
    return make(CastExpr{std::move(head.type), std::move(operand)}, begin);
}

ExprPtr ExprParser::postfix() {
    uint32_t begin = cursor_.begin();
    ExprPtr object = primary();
    while (object) {
        bool is_index = cursor_.at(TokenKind::left_bracket);
        if (!is_index && !cursor_.at(TokenKind::dot) && !cursor_.at(TokenKind::arrow))
            return object;
        if (!count_operator()) return nullptr;
        object = is_index ? index(std::move(object), begin) : member(std::move(object), begin);
    }
    return nullptr;
}

ExprPtr ExprParser::member(ExprPtr object, uint32_t begin) {
    bool arrow = cursor_.take().kind == TokenKind::arrow;
    Span field_span = cursor_.token().span;
    auto field = cursor_.expect_name("the name of a field");
    if (!field) return nullptr;
    return make(MemberExpr{std::move(object), std::move(*field), arrow, field_span}, begin);
}

ExprPtr ExprParser::index(ExprPtr object, uint32_t begin) {
    cursor_.take();
    ExprPtr index = conditional();
    if (!index || !cursor_.expect(TokenKind::right_bracket, "`]`")) return nullptr;
    return make(IndexExpr{std::move(object), std::move(index)}, begin);
}

ExprPtr ExprParser::primary() {
    uint32_t begin = cursor_.begin();
    if (cursor_.at(TokenKind::left_paren)) return parenthesised();
    if (cursor_.at(TokenKind::number)) return number();
    if (cursor_.at(TokenKind::name)) return name();
    if (cursor_.at(TokenKind::string)) return make(StringExpr{cursor_.take().characters()}, begin);
    if (cursor_.at(TokenKind::character)) {
        auto value = static_cast<uint8_t>(cursor_.take().characters()[0]);
        return make(CharExpr{value}, begin);
    }
    cursor_.unexpected("an expression");
    return nullptr;
}

ExprPtr ExprParser::parenthesised() {
    uint32_t begin = cursor_.begin();
    cursor_.take();
    ExprPtr inner = conditional();
    if (!inner || !cursor_.expect(TokenKind::right_paren, "`)`")) return nullptr;
    inner->span = cursor_.since(begin);
    return inner;
}

ExprPtr ExprParser::number() {
    Token token = cursor_.take();
    const Token& next = cursor_.token();
    if (next.kind == TokenKind::name && is_unit(next.text()) && !next.first_on_line) {
        cursor_
            .error(next.span,
                   fmt::format("the unit `{}` stands apart from its number", next.text()))
            .help(fmt::format("write `{}{}`", token.text(), next.text()));
        return nullptr;
    }
    return make(token.number(), token.span.begin);
}

ExprPtr ExprParser::name() {
    if (cursor_.peek().kind == TokenKind::left_paren) return call();
    Token token = cursor_.take();
    return make(NameExpr{std::string(token.text())}, token.span.begin);
}

ExprPtr ExprParser::call() {
    Token function = cursor_.take();
    const uint32_t begin = function.span.begin;
    cursor_.take();
    if (function.is_word("arg")) return arg(begin);
    if (function.is_word("str")) return str(begin);
    if (function.is_word("file_name")) return file_name(begin);
    if (function.is_word("in_python")) return in_python(begin);
    if (function.is_word("demangle")) return demangle(begin);
    if (function.is_word("starts_with")) return of_text(BinaryOp::starts_with, begin);
    if (function.is_word("ends_with")) return of_text(BinaryOp::ends_with, begin);
    if (function.is_word("contains")) return of_text(BinaryOp::contains, begin);
    if (function.is_word("size")) return learnt_part(LearntPart::size, begin);
    if (function.is_word("each")) return learnt_part(LearntPart::each, begin);
    if (function.is_word("now")) return now(begin);
    cursor_
        .error(function.span,
               fmt::format("`{}` is not a function of the rule language", function.text()))
        .note("there are `arg(N)`, `str(pointer, N)`, `file_name(fd)`, `in_python(address)`, "
              "`demangle(text)`, `starts_with(text, \"...\")`, `ends_with(text, \"...\")`, "
              "`contains(text, \"...\")`, `size(table[key])`, `each(table[key])` and "
              "`now(gauge)`");
    return nullptr;
}

// A number without a unit, such as a count.
std::optional<uint64_t> ExprParser::plain_number(std::string_view wanted) {
    if (!cursor_.at(TokenKind::number)) {
        cursor_.unexpected(wanted);
        return std::nullopt;
    }
    return cursor_.take().number().value;
}

ExprPtr ExprParser::arg(uint32_t begin) {
    auto index = plain_number("the number of an argument");
    if (!index || !cursor_.expect(TokenKind::right_paren, "`)`")) return nullptr;
    auto clamped = static_cast<uint32_t>(std::min<uint64_t>(*index, UINT32_MAX));
    return make(ArgExpr{clamped}, begin);
}

ExprPtr ExprParser::str(uint32_t begin) {
    StrExpr node;
    node.pointer = conditional();
    if (!node.pointer) return nullptr;
    if (cursor_.accept(TokenKind::comma)) {
        auto length = plain_number("the most bytes of the text");
        if (!length) return nullptr;
        node.length = static_cast<uint32_t>(std::min<uint64_t>(*length, UINT32_MAX));
    }
    if (!cursor_.expect(TokenKind::right_paren, "`)`")) return nullptr;
    return make(std::move(node), begin);
}

ExprPtr ExprParser::file_name(uint32_t begin) {
    ExprPtr descriptor = conditional();
    if (!descriptor || !cursor_.expect(TokenKind::right_paren, "`)`")) return nullptr;
    return make(FileNameExpr{std::move(descriptor)}, begin);
}

ExprPtr ExprParser::in_python(uint32_t begin) {
    ExprPtr address = conditional();
    if (!address || !cursor_.expect(TokenKind::right_paren, "`)`")) return nullptr;
    return make(UnaryExpr{UnaryOp::in_python, std::move(address)}, begin);
}

ExprPtr ExprParser::demangle(uint32_t begin) {
    ExprPtr text = conditional();
    if (!text || !cursor_.expect(TokenKind::right_paren, "`)`")) return nullptr;
    return make(DemangleExpr{std::move(text)}, begin);
}

ExprPtr ExprParser::of_text(BinaryOp op, uint32_t begin) {
    ExprPtr text = conditional();
    if (!text || !cursor_.expect(TokenKind::comma, "`,`")) return nullptr;
    ExprPtr part = conditional();
    if (!part || !cursor_.expect(TokenKind::right_paren, "`)`")) return nullptr;
    return make(BinaryExpr{op, std::move(text), std::move(part)}, begin);
}

ExprPtr ExprParser::learnt_part(LearntPart part, uint32_t begin) {
    ExprPtr of = conditional();
    if (!of || !cursor_.expect(TokenKind::right_paren, "`)`")) return nullptr;
    return make(LearntPartExpr{part, std::move(of)}, begin);
}

ExprPtr ExprParser::now(uint32_t begin) {
    NowExpr node;
    node.gauge_span = cursor_.token().span;
    auto gauge = cursor_.expect_name("the name of a gauge");
    if (!gauge) return nullptr;
    node.gauge = std::move(*gauge);
    if (cursor_.accept(TokenKind::comma) && !(node.group = conditional())) return nullptr;
    if (!cursor_.expect(TokenKind::right_paren, "`)`")) return nullptr;
    return make(std::move(node), begin);
}

}  // namespace

ExprPtr parse_operand(Cursor& cursor) {
    return ExprParser(cursor).conditional();
}

ExprPtr parse_expr(Cursor& cursor) {
    ExprPtr expr = parse_operand(cursor);
    if (!expr) return nullptr;
    if (cursor.at(TokenKind::assign)) {
        cursor.error(cursor.token().span, "`=` does not compare").help("write `==`");
        return nullptr;
    }
    if (cursor.at(TokenKind::increment) || cursor.at(TokenKind::other_assign)) {
        cursor.error(cursor.token().span, fmt::format("`{}` changes a value, and a rule only reads",
                                                      cursor.token().text()));
        return nullptr;
    }
    return expr;
}

}  // namespace mlbcc::rules
