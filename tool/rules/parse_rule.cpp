// One rule: its head, its clauses, and what is odd about them as a whole.
#include <fmt/format.h>

#include <algorithm>
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
    if (adjacent) error.help("put a name with other characters in quotes: `LIBRARY:\"NAME\"`");
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

// Up to the `}`, which is taken; `one` reads what stands between. False where there is none.
template <class One> bool parse_braces(Cursor& cursor, const Rule& rule, const One& one) {
    while (!cursor.accept(TokenKind::right_brace) && !cursor.is_rubbish()) {
        if (cursor.at(TokenKind::end) || begins_statement(cursor)) {
            unclosed(cursor, rule);
            return false;
        }
        one();
    }
    return true;
}

// What one reading of a rule takes: what stands outside of every `each`, or what stands in one of
// them, for one of its numbers.
struct Reading {
    std::optional<size_t> each;
    uint64_t number = 0;
};

bool may_be_in_each(const Clause& clause) {
    return !std::holds_alternative<SpanClause>(clause.node) &&
           !std::holds_alternative<EventClause>(clause.node) &&
           !std::holds_alternative<LargestClause>(clause.node) &&
           !std::holds_alternative<StackClause>(clause.node) &&
           !std::holds_alternative<SampleClause>(clause.node);
}

// `each i in 0..8 { ... }`; `all` are those that were read before it.
bool parse_each(Cursor& cursor, Rule& rule, const Reading& reading, std::vector<Each>& all) {
    std::optional<Each> each = parse_each_head(cursor);
    if (!each) return false;
    all.push_back(std::move(*each));
    if (reading.each != all.size() - 1) {
        skip_braces(cursor);
        return true;
    }
    cursor.take();
    add_let(cursor, rule, let_of(all.back(), reading.number), all.back().span);
    const size_t before = rule.clauses.size();
    const bool is_closed = parse_braces(cursor, rule, [&] {
        if (!parse_clause(cursor, rule)) skip_clause(cursor);
    });
    if (!is_closed) return false;
    for (size_t i = before; i < rule.clauses.size(); ++i) {
        const Clause& clause = rule.clauses[i];
        if (may_be_in_each(clause)) continue;
        cursor
            .error(clause.span,
                   fmt::format("`{}` cannot stand in `each`",
                               clause.span.text().substr(0, clause.span.text().find(' '))))
            .help("put it after the block; an event shows a whole array: event x(a = p->a)");
    }
    return true;
}

// Gives the blocks that it has met.
std::vector<Each> parse_body(Cursor& cursor, Rule& rule, const Reading& reading) {
    std::vector<Each> all;
    (void)parse_braces(cursor, rule, [&] {
        const size_t before = rule.clauses.size();
        const bool is_each = cursor.at_word(kEach);
        if (!(is_each ? parse_each(cursor, rule, reading, all) : parse_clause(cursor, rule)))
            skip_clause(cursor);
        const bool is_left_out = !is_each && reading.each && rule.clauses.size() > before &&
                                 !std::holds_alternative<StackClause>(rule.clauses.back().node);
        if (is_left_out) rule.clauses.pop_back();
    });
    return all;
}

// ---- the rule as a whole

void warn_of_repeats(Cursor& cursor, const Rule& rule) {
    std::map<std::string_view, Span> seen;
    for (const Clause& clause : rule.clauses) {
        auto [first, is_new] = seen.emplace(clause.span.text(), clause.span);
        if (is_new) continue;
        cursor.diagnostics()
            .warning(clause.span, fmt::format("`{}` stands twice in one rule", first->first))
            .at("the first one is here", first->second.where())
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

// A sampled call would have to be one of the same calls for each of the numbers.
void check_sampled_each(Cursor& cursor, const Rule& rule) {
    for (const Clause& clause : rule.clauses) {
        if (!std::holds_alternative<SampleClause>(clause.node)) continue;
        cursor.error(clause.span, "`sample` cannot stand in a rule with `each`")
            .help("give `each` a rule of its own");
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

// The rule as one reading takes it. The cursor stands behind `on`.
Rule read_rule(Cursor& cursor, uint32_t begin, const RuleSet& rules, const Reading& reading,
               std::vector<Each>& all) {
    Rule rule;
    rule.span = cursor.since(begin);
    if (parse_brace(cursor, rules, rule)) all = parse_body(cursor, rule, reading);
    rule.span = cursor.since(begin);
    warn_of_repeats(cursor, rule);
    check_until_known(cursor, rule);
    check_samples(cursor, rule);
    return rule;
}

void add(RuleSet& rules, Rule rule, bool again) {
    rule.index = static_cast<uint32_t>(rules.rules.size());
    rule.again = again;
    rules.rules.push_back(std::move(rule));
}

}  // namespace

// A rule with `each` is one without it, and behind that one for each number of each block.
void parse_rule(Cursor& cursor, uint32_t begin, RuleSet& rules) {
    const uint32_t head = cursor.begin();
    const size_t errors = cursor.diagnostics().error_count();
    const auto is_wrong = [&] { return cursor.diagnostics().error_count() > errors; };
    std::vector<Each> all, same;
    Rule rule = read_rule(cursor, begin, rules, {}, all);
    if (!all.empty()) check_sampled_each(cursor, rule);
    if (!is_wrong() && all.empty()) warn_of_nothing(cursor, rule);
    bool again = all.empty() || keeps_something(rule);
    if (again) add(rules, std::move(rule), false);
    if (is_wrong()) return;
    for (size_t i = 0; i < all.size(); ++i) {
        for (uint64_t number = all[i].first; number < all[i].end && !is_wrong(); ++number) {
            cursor.rewind(head);
            add(rules, read_rule(cursor, begin, rules, {i, number}, same), again);
            again = true;
        }
    }
}

}  // namespace mlbcc::rules
