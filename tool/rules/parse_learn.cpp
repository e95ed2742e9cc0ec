// What a rule keeps for later: `learn t[k] = v` and its like, `forget t[k]`.
#include "rules/parser.h"

namespace mlbcc::rules {

namespace {

// "[expr]" or "[expr : expr]"
bool parse_table_key(Cursor& cursor, LearnClause& clause) {
    auto table = cursor.expect_name("the name of the table");
    if (!table || !cursor.expect(TokenKind::left_bracket, "`[`")) return false;
    clause.table = std::move(*table);
    if (clause.table == kFunctionAt) {
        cursor.error(cursor.last().span, "`function_at` is built in: no rule can learn it")
            .help("give the table another name");
    }
    clause.key = parse_expr(cursor);
    if (!clause.key) return false;
    if (cursor.accept(TokenKind::colon) && !(clause.end = parse_expr(cursor))) return false;
    return cursor.expect(TokenKind::right_bracket, "`]`");
}

std::optional<LearnOp> parse_learn_op(Cursor& cursor) {
    if (cursor.accept(TokenKind::assign)) return LearnOp::set;
    if (cursor.accept(TokenKind::plus_assign)) return LearnOp::plus;
    if (cursor.accept(TokenKind::minus_assign)) return LearnOp::minus;
    if (cursor.accept_word("add")) return LearnOp::add;
    if (cursor.accept_word("push")) return LearnOp::push;
    if (cursor.accept_word("pop")) return LearnOp::pop;
    cursor.unexpected("`=`, `+=`, `-=`, `add`, `push` or `pop`");
    return std::nullopt;
}

}  // namespace

bool parse_learn(Cursor& cursor, Rule& rule, uint32_t begin) {
    LearnClause clause;
    if (!parse_table_key(cursor, clause)) return false;
    auto op = parse_learn_op(cursor);
    if (!op) return false;
    clause.op = *op;
    if (clause.end && clause.op != LearnOp::set) {
        cursor.error(cursor.last().span, "what is known for a range of keys is set by `=`");
    }
    if (clause.op != LearnOp::pop && !(clause.value = parse_expr(cursor))) return false;
    rule.clauses.push_back({cursor.since(begin), std::move(clause)});
    return true;
}

bool parse_forget(Cursor& cursor, Rule& rule, uint32_t begin) {
    LearnClause clause;
    if (!parse_table_key(cursor, clause)) return false;
    clause.op = LearnOp::forget;
    if (clause.end) {
        cursor.error(clause.end->span, "one key is enough: all that it lies in is forgotten")
            .help("remove the end of the range");
    }
    rule.clauses.push_back({cursor.since(begin), std::move(clause)});
    return true;
}

}  // namespace mlbcc::rules
