// One rule: its head, its clauses, and what is odd about them as a whole.
#include <fmt/format.h>

#include <map>

#include "rules/parser.h"

namespace mlbcc::rules {

namespace {

// ---- the head: "on optional cuda:cu* except cuGetErrorName"

bool* flag_at(Cursor& cursor, Rule& rule) {
    if (cursor.at_word("entry")) return &rule.entry;
    if (cursor.at_word("optional")) return &rule.optional;
    if (cursor.at_word("until_known")) return &rule.until_known;
    return cursor.at_word("all") ? &rule.all : nullptr;
}

void parse_flags(Cursor& cursor, Rule& rule) {
    // A library may be called `entry`: then a colon follows.
    while (cursor.peek().kind != TokenKind::colon) {
        bool* flag = flag_at(cursor, rule);
        if (flag == nullptr) return;
        Token word = cursor.take();
        if (*flag)
            cursor.diagnostics().warning(word.span, fmt::format("`{}` stands twice", word.text()));
        *flag = true;
    }
}

// Of calls both ends have to be seen, and of a process that is not traced nobody knows its
// beginning and its end.
void check_all(Cursor& cursor, const Rule& rule) {
    if (!rule.all) return;
    for (const Target& target : rule.targets) {
        if (std::holds_alternative<TracepointTarget>(target.node)) continue;
        cursor.error(target.span, "`all` is for tracepoints only")
            .help("remove `all`, and trace every process with `mlbcc --all`");
    }
}

// What it learns must be there for good, and cost nothing once it is known.
void check_until_known(Cursor& cursor, const Rule& rule) {
    if (!rule.until_known) return;
    for (const Target& target : rule.targets) {
        if (std::holds_alternative<FunctionTarget>(target.node)) continue;
        cursor.error(target.span, "`until_known` is for functions of libraries only")
            .help("remove `until_known`");
    }
    for (const Clause& clause : rule.clauses) {
        const auto* learn = std::get_if<LearnClause>(&clause.node);
        if (learn != nullptr && learn->op == LearnOp::set) continue;
        cursor.error(clause.span, "`until_known` is for rules that learn by `=`, and nothing else")
            .help("give this a rule of its own");
    }
}

bool parse_except(Cursor& cursor, Rule& rule) {
    if (!cursor.accept_word("except")) return true;
    do {
        auto glob = cursor.expect_glob("a name or pattern of functions");
        if (!glob) return false;
        rule.except.push_back({glob->characters(), glob->span, std::nullopt});
    } while (cursor.accept(TokenKind::comma));
    return true;
}

bool parse_head(Cursor& cursor, const RuleSet& rules, Rule& rule) {
    parse_flags(cursor, rule);
    do {
        if (!parse_target(cursor, rules, rule)) return false;
    } while (cursor.accept(TokenKind::comma));
    check_all(cursor, rule);
    return parse_except(cursor, rule);
}

void missing_brace(Cursor& cursor, const Rule& rule) {
    bool adjacent = cursor.begin() == cursor.last().span.end && !cursor.at(TokenKind::end);
    auto& error = cursor.unexpected(rule.except.empty() ? "`,`, `except` or `{`" : "`,` or `{`");
    if (adjacent) error.help("a name with other characters stands in quotes: `LIBRARY:\"NAME\"`");
}

// To the `{` of a rule whose head is broken, or to the next statement.
bool skip_to_body(Cursor& cursor) {
    while (!cursor.at(TokenKind::left_brace)) {
        if (cursor.accept(TokenKind::right_brace)) return false;
        if (cursor.at(TokenKind::end) || begins_statement(cursor)) return false;
        cursor.take();
    }
    return true;
}

// True if clauses follow.
bool parse_brace(Cursor& cursor, const RuleSet& rules, Rule& rule) {
    bool head_is_right = parse_head(cursor, rules, rule);
    rule.head_span = cursor.since(rule.span.begin);
    if (head_is_right && cursor.accept(TokenKind::left_brace)) return true;
    if (head_is_right) missing_brace(cursor, rule);
    // "on cuda:cuInit count }": go on as if the brace stood there.
    if (head_is_right && cursor.at(TokenKind::name) && is_clause_word(cursor.token().text()))
        return true;
    if (!skip_to_body(cursor)) return false;
    cursor.take();
    return true;
}

// ---- the body

void unclosed(Cursor& cursor, const Rule& rule) {
    auto& error =
        cursor.error(rule.head_span, "the rule is not closed").labelled("its `{` has no `}`");
    if (cursor.at(TokenKind::end)) return;
    error.at("the next statement begins before it ends", cursor.token().span.where());
}

void parse_body(Cursor& cursor, Rule& rule) {
    while (!cursor.accept(TokenKind::right_brace) && !cursor.is_rubbish()) {
        if (cursor.at(TokenKind::end) || begins_statement(cursor)) return unclosed(cursor, rule);
        if (!parse_clause(cursor, rule)) skip_clause(cursor);
    }
}

// ---- the rule as a whole

void warn_of_repeats(Cursor& cursor, const Rule& rule) {
    std::map<std::string_view, Span> seen;
    for (const Clause& clause : rule.clauses) {
        auto [first, is_new] = seen.emplace(clause.span.text(), clause.span);
        if (is_new) continue;
        cursor.diagnostics()
            .warning(clause.span, fmt::format("`{}` stands twice in one rule", first->first))
            .at("it is here for the first time", first->second.where())
            .help("remove one of them");
    }
}

void check_samples(Cursor& cursor, const Rule& rule) {
    const Clause* first = nullptr;
    for (const Clause& clause : rule.clauses) {
        const auto* sample = std::get_if<SampleClause>(&clause.node);
        if (sample == nullptr) continue;
        if (first == nullptr) first = &clause;
        if (std::get<SampleClause>(first->node).one_in == sample->one_in) continue;
        cursor.error(clause.span, "the rule is sampled twice")
            .at("the other sample is here", first->span.where())
            .help("remove one of them");
    }
}

bool keeps_something(const Rule& rule) {
    for (const Clause& clause : rule.clauses) {
        bool is_stack = std::holds_alternative<StackClause>(clause.node);
        if (!is_stack && !std::holds_alternative<SampleClause>(clause.node)) return true;
    }
    return false;
}

void warn_of_nothing(Cursor& cursor, const Rule& rule) {
    if (keeps_something(rule)) return;
    cursor.diagnostics()
        .warning(rule.head_span, "the rule records nothing")
        .help("add what to record: `span`, `event`, `count`, `sum`, `hist`, `gauge` or `learn`");
}

}  // namespace

void parse_rule(Cursor& cursor, uint32_t begin, RuleSet& rules) {
    Rule rule;
    rule.index = static_cast<uint32_t>(rules.rules.size());
    rule.span = cursor.since(begin);
    size_t errors = cursor.diagnostics().error_count();
    if (parse_brace(cursor, rules, rule)) parse_body(cursor, rule);
    rule.span = cursor.since(begin);
    warn_of_repeats(cursor, rule);
    check_until_known(cursor, rule);
    check_samples(cursor, rule);
    if (cursor.diagnostics().error_count() == errors) warn_of_nothing(cursor, rule);
    rules.rules.push_back(std::move(rule));
}

}  // namespace mlbcc::rules
