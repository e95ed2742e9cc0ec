// The clauses of a rule, one function each.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rules/parser.h"

namespace mlbcc::rules {

namespace {

// A clause's parser is behind its word. It adds to the rule what it has read.
using ParseClause = bool (*)(Cursor&, Rule&, uint32_t begin);

template <class Node> bool add(Cursor& cursor, Rule& rule, uint32_t begin, Node node) {
    rule.clauses.push_back({cursor.since(begin), std::move(node)});
    return true;
}

// ---- parts that several clauses share

bool parse_by(Cursor& cursor, std::vector<Field>& by) {
    if (!cursor.accept_word("by")) return true;
    do {
        Field field;
        if (!parse_field(cursor, field)) return false;
        if (field.is_args()) {
            cursor.error(field.span, "`args` is several values; a group needs single ones")
                .help("name the parameters");
            return false;
        }
        by.push_back(std::move(field));
    } while (cursor.accept(TokenKind::comma));
    return true;
}

// [by ...] [as "LABEL"] [every TIME]
bool parse_kept(Cursor& cursor, Kept& kept) {
    if (!parse_by(cursor, kept.by)) return false;
    if (cursor.accept_word("as")) {
        kept.label = cursor.expect_string("a label in quotes");
        if (!kept.label) return false;
    }
    if (!cursor.accept_word("every")) return true;
    auto every = parse_period(cursor, {"`every`", "100ms", 10'000'000, "10ms"});
    kept.every_ns = every.value_or(0);
    return every.has_value();
}

// ---- clauses

bool parse_where(Cursor& cursor, Rule& rule, uint32_t) {
    ExprPtr condition = parse_expr(cursor);
    if (!condition) return false;
    rule.where.push_back(std::move(condition));
    return true;
}

bool parse_let(Cursor& cursor, Rule& rule, uint32_t begin) {
    const Span at = cursor.token().span;
    auto name = cursor.expect_name("a name for the expression");
    if (!name || !cursor.expect(TokenKind::assign, "`=`")) return false;
    ExprPtr value = parse_expr(cursor);
    if (!value) return false;
    add_let(cursor, rule, {std::move(*name), std::move(value), cursor.since(begin)}, at);
    return true;
}

bool parse_span(Cursor& cursor, Rule& rule, uint32_t begin) {
    SpanClause clause;
    auto type = cursor.expect_name("the type of the span");
    if (!type || !parse_fields(cursor, clause.fields)) return false;
    clause.type = std::move(*type);
    return add(cursor, rule, begin, std::move(clause));
}

bool parse_event(Cursor& cursor, Rule& rule, uint32_t begin) {
    EventClause clause;
    auto type = cursor.expect_name("the type of the event");
    if (!type) return false;
    clause.type = std::move(*type);
    if (cursor.accept(TokenKind::dot)) {
        auto name = cursor.expect_name("the name of the event");
        if (!name) return false;
        clause.name = std::move(*name);
    }
    if (!parse_fields(cursor, clause.fields)) return false;
    return add(cursor, rule, begin, std::move(clause));
}

bool parse_count(Cursor& cursor, Rule& rule, uint32_t begin) {
    CountClause clause;
    if (!parse_kept(cursor, clause.kept)) return false;
    return add(cursor, rule, begin, std::move(clause));
}

bool parse_sum(Cursor& cursor, Rule& rule, uint32_t begin) {
    SumClause clause;
    clause.value = parse_expr(cursor);
    if (!clause.value) return false;
    if (cursor.accept_word("over") && !(clause.over = parse_expr(cursor))) return false;
    if (!parse_kept(cursor, clause.kept)) return false;
    return add(cursor, rule, begin, std::move(clause));
}

bool parse_hist(Cursor& cursor, Rule& rule, uint32_t begin) {
    HistClause clause;
    clause.value = parse_expr(cursor);
    if (!clause.value || !parse_kept(cursor, clause.kept)) return false;
    return add(cursor, rule, begin, std::move(clause));
}

// "[expr]"
ExprPtr parse_key(Cursor& cursor) {
    if (!cursor.expect(TokenKind::left_bracket, "`[`")) return nullptr;
    ExprPtr key = parse_expr(cursor);
    return key && cursor.expect(TokenKind::right_bracket, "`]`") ? std::move(key) : nullptr;
}

std::optional<GaugeOp> parse_gauge_op(Cursor& cursor) {
    if (cursor.accept(TokenKind::assign)) return GaugeOp::set;
    if (cursor.accept(TokenKind::plus_assign)) return GaugeOp::add;
    if (cursor.accept(TokenKind::minus_assign)) return GaugeOp::sub;
    cursor.unexpected("`=`, `+=` or `-=`");
    return std::nullopt;
}

// "gauge NAME of OWNER = 0"
bool parse_release(Cursor& cursor, Rule& rule, uint32_t begin, GaugeClause clause) {
    cursor.take();
    clause.op = GaugeOp::release;
    clause.owner = parse_operand(cursor);
    if (!clause.owner || !cursor.expect(TokenKind::assign, "`= 0`")) return false;
    bool zero = cursor.at(TokenKind::number) && cursor.token().number().value == 0;
    if (!zero) {
        cursor.unexpected("`0`").note("all that an owner holds is released at once");
        return false;
    }
    cursor.take();
    return add(cursor, rule, begin, std::move(clause));
}

bool parse_gauge(Cursor& cursor, Rule& rule, uint32_t begin) {
    GaugeClause clause;
    auto name = cursor.expect_name("the name of the gauge");
    if (!name) return false;
    clause.name = std::move(*name);
    if (cursor.at_word("of")) return parse_release(cursor, rule, begin, std::move(clause));
    if (cursor.at(TokenKind::left_bracket) && !(clause.key = parse_key(cursor))) return false;
    auto op = parse_gauge_op(cursor);
    if (!op) return false;
    clause.op = *op;
    if (clause.key && clause.op != GaugeOp::set) {
        cursor
            .error(cursor.last().span,
                   fmt::format("`{}` is for a gauge without a key", cursor.last().text()))
            .help("use `=`, or remove the key");
    }
    clause.value = parse_expr(cursor);
    if (!clause.value || !parse_by(cursor, clause.by)) return false;
    if (cursor.accept_word("of") && !(clause.owner = parse_expr(cursor))) return false;
    return add(cursor, rule, begin, std::move(clause));
}

// "trace *pfn as symbol"
bool parse_trace(Cursor& cursor, Rule& rule, uint32_t begin) {
    TraceClause clause;
    clause.address = parse_expr(cursor);
    if (!clause.address || !cursor.expect_word("as")) return false;
    clause.name = parse_expr(cursor);
    return clause.name && add(cursor, rule, begin, std::move(clause));
}

bool parse_stack(Cursor& cursor, Rule& rule, uint32_t begin) {
    if (cursor.accept_word("user")) return add(cursor, rule, begin, StackClause{StackKind::user});
    if (cursor.accept_word("kernel")) {
        return add(cursor, rule, begin, StackClause{StackKind::kernel});
    }
    if (cursor.accept_word("python")) {
        return add(cursor, rule, begin, StackClause{StackKind::python});
    }
    cursor.unexpected("`user`, `kernel` or `python`");
    return false;
}

std::optional<NumberExpr> sample_number(Cursor& cursor) {
    if (cursor.at(TokenKind::number)) return cursor.take().number();
    cursor.unexpected("`1/N`");
    return std::nullopt;
}

bool parse_sample(Cursor& cursor, Rule& rule, uint32_t begin) {
    uint32_t ratio = cursor.begin();
    auto one = sample_number(cursor);
    if (!one || !cursor.expect(TokenKind::slash, "`/`")) return false;
    auto of = sample_number(cursor);
    if (!of) return false;
    bool plain = one->unit == Unit::none && of->unit == Unit::none;
    if (plain && one->value == 1 && of->value > 0 && of->value <= UINT32_MAX) {
        return add(cursor, rule, begin, SampleClause{static_cast<uint32_t>(of->value)});
    }
    Span span = cursor.since(ratio);
    cursor.error(span, fmt::format("`{}` is not a sample of calls", span.text()))
        .help("write `1/N` to keep one call in N, with N from 1 to 4294967295");
    return true;
}

// ---- which is which

struct ClauseRow {
    std::string_view word;
    ParseClause parse;
};
constexpr auto kClauses = std::to_array<ClauseRow>({
    {"where", parse_where},
    {"let", parse_let},
    {"span", parse_span},
    {"event", parse_event},
    {"count", parse_count},
    {"sum", parse_sum},
    {"hist", parse_hist},
    {"largest", parse_largest},
    {"gauge", parse_gauge},
    {"learn", parse_learn},
    {"forget", parse_forget},
    {"trace", parse_trace},
    {"stack", parse_stack},
    {"sample", parse_sample},
});

const ClauseRow* find_clause(std::string_view word) {
    auto row = std::find_if(kClauses.begin(), kClauses.end(),
                            [&](const ClauseRow& clause) { return clause.word == word; });
    return row == kClauses.end() ? nullptr : &*row;
}

std::vector<std::string> clause_words() {
    std::vector<std::string> words;
    words.reserve(kClauses.size() + 1);
    for (const ClauseRow& row : kClauses) words.emplace_back(row.word);
    words.emplace_back(kEach);
    return words;
}

struct Translation {
    std::string_view word, meaning;
};
constexpr auto kOtherLanguages = std::to_array<Translation>({{"and", "&&"},
                                                             {"or", "||"},
                                                             {"AND", "&&"},
                                                             {"OR", "||"},
                                                             {"if", "where"},
                                                             {"when", "where"},
                                                             {"print", "event"},
                                                             {"printf", "event"}});

// A name where a clause should begin.
void unknown_clause(Cursor& cursor) {
    std::string word(cursor.token().text());
    auto& error = cursor.error(cursor.token().span, fmt::format("`{}` is not a clause", word));
    for (const Translation& other : kOtherLanguages) {
        if (word == other.word) error.help(fmt::format("write `{}`", other.meaning));
    }
    if (auto closest = closest_name(word, clause_words())) {
        error.help(fmt::format("a clause with a similar name exists: `{}`", *closest));
    } else {
        error.note(fmt::format("the clauses are `{}`", fmt::join(clause_words(), "`, `")));
    }
}

constexpr auto kEnds = std::to_array<TokenKind>(
    {TokenKind::number, TokenKind::string, TokenKind::character, TokenKind::right_paren,
     TokenKind::right_bracket, TokenKind::right_brace, TokenKind::semicolon});

constexpr auto kInfixWords =
    std::to_array<std::string_view>({"by", "as", "over", "of", "add", "push", "every"});

// Can an operand end here, so that a name that follows begins a clause?
bool ends_operand(const Token& token) {
    if (token.kind == TokenKind::name) {
        return std::ranges::find(kInfixWords, token.text()) == kInfixWords.end() &&
               !is_clause_word(token.text());
    }
    return std::find(kEnds.begin(), kEnds.end(), token.kind) != kEnds.end();
}

// Behind a mistake: is the next token the first of a clause, even a misspelt one? Parentheses that
// are open may be part of the mistake, or go on over several lines.
bool may_begin_clause(Cursor& cursor) {
    if (!cursor.at(TokenKind::name)) return false;
    const Token& token = cursor.token();
    bool is_inside = cursor.nesting() > 0, is_behind_operand = ends_operand(cursor.last());
    if (is_clause_word(token.text()))
        return token.first_on_line || (!is_inside && is_behind_operand);
    if (!token.first_on_line || !is_behind_operand) return false;
    return !is_inside || closest_name(token.text(), clause_words()).has_value();
}

}  // namespace

void add_let(Cursor& cursor, Rule& rule, Let let, const Span& name) {
    const auto same = std::ranges::find(rule.lets, let.name, &Let::name);
    if (same != rule.lets.end())
        cursor.error(name, fmt::format("`{}` is already defined", let.name))
            .at("here", same->span.where());
    rule.lets.push_back(std::move(let));
}

bool is_clause_word(std::string_view word) {
    return word == kEach || find_clause(word) != nullptr;
}

void skip_braces(Cursor& cursor) {
    int depth = 0;
    do {
        if (depth > 0 && begins_statement(cursor)) return;
        if (cursor.at(TokenKind::left_brace)) ++depth;
        if (cursor.at(TokenKind::right_brace)) --depth;
        cursor.take();
    } while (depth > 0 && !cursor.at(TokenKind::end));
}

bool parse_clause(Cursor& cursor, Rule& rule) {
    cursor.reset_nesting();
    uint32_t begin = cursor.begin();
    if (cursor.at(TokenKind::semicolon)) {
        cursor.unexpected("a clause").help("remove it: clauses need no `;`");
        cursor.take();
        return true;
    }
    if (!cursor.at(TokenKind::name)) {
        cursor.unexpected("a clause or `}`");
        return false;
    }
    const ClauseRow* row = find_clause(cursor.token().text());
    if (cursor.at_word(kEach)) {
        cursor.error(cursor.token().span, "`each` cannot stand in `each`");
        cursor.take();
        return false;
    }
    if (row == nullptr) {
        unknown_clause(cursor);
        cursor.take();
        return false;
    }
    cursor.take();
    return row->parse(cursor, rule, begin);
}

void skip_clause(Cursor& cursor) {
    while (!cursor.at(TokenKind::end) && !cursor.at(TokenKind::right_brace)) {
        if (begins_statement(cursor) || may_begin_clause(cursor)) return;
        if (cursor.at(TokenKind::left_brace)) {
            skip_braces(cursor);
        } else {
            cursor.take();
        }
    }
}

}  // namespace mlbcc::rules
