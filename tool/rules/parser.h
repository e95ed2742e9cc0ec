// The parts of the parser, from the largest to the smallest. Each takes what it knows from the
// cursor and leaves it behind the last token that it took; where it fails, it has reported why.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/cursor.h"
#include "rules/rules.h"
#include "text/diagnostic.h"

namespace mlbcc::rules {

// ---- files (source_text.cpp)

// Why a text is no rule file: longer than kMaxRuleFile, or with bytes that are no text.
std::optional<Error> check_text(std::string_view path, std::string_view text);
// `#include` begins a comment here, which is not what whoever writes it expects.
void warn_of_directives(const SourceFile& file, Diagnostics& diagnostics);

// ---- statements (parse_statement.cpp)

// What one file says goes to `rules`; `import_file` reads another file, named at `span`, whose
// rules are all `optional` if it is.
class FileParser {
public:
    using ImportFile = std::function<void(const std::string& name, Span span, bool optional)>;
    FileParser(std::string directory, RuleSet& rules, ImportFile import_file)
        : directory_(std::move(directory)), rules_(rules), import_file_(std::move(import_file)) {}
    void parse(Cursor& cursor);

private:
    void statement(Cursor& cursor);
    void keyword(Cursor& cursor, std::string_view word, uint32_t begin);
    bool import(Cursor& cursor);
    bool header(Cursor& cursor, uint32_t begin);
    bool library(Cursor& cursor, uint32_t begin);
    bool library_files(Cursor& cursor, Library& library);
    void add_library(Cursor& cursor, Library library);
    bool functions(Cursor& cursor, uint32_t begin);
    bool set(Cursor& cursor, uint32_t begin);
    void add_list(Cursor& cursor, FunctionList list, Span name);
    void declaration(Cursor& cursor);
    void no_declaration(Cursor& cursor, uint32_t begin);

    std::string directory_;  // of this file
    RuleSet& rules_;
    ImportFile import_file_;
};

// Does a statement begin at the next token, which is the first of its line? Within a rule or a
// declaration this means that its end is missing.
bool begins_statement(Cursor& cursor);

// ---- C text (declarations.cpp)

enum class DeclarationEnd { complete, body, broken };

// From the next token to behind the `;` that ends the declaration. `body`: it is a function with
// its code, and the cursor stands at the `{`. `broken`: the cursor stands at what cannot be part of
// it. Reports nothing.
DeclarationEnd scan_declaration(Cursor& cursor);
// What stands there, with the comments that C does not know blanked out.
std::string declaration_text(Span span);

// ---- times (parse_target.cpp)

struct PeriodWanted {
    std::string_view what;     // "an interval"
    std::string_view example;  // "1s"
    uint64_t least_ns = 0;
    std::string_view least;  // the same as one writes it
};
// How often something is done, nanoseconds: at most once a day's time.
std::optional<uint64_t> parse_period(Cursor& cursor, const PeriodWanted& wanted);

// ---- lists of functions (function_lists.cpp)

// Puts the patterns of a list in the place of its name, in the rules from index `first` on.
void expand_lists(RuleSet& rules);

// ---- rules (parse_rule.cpp, parse_target.cpp)

// `cursor` is behind `on`, which stood at `begin`.
void parse_rule(Cursor& cursor, uint32_t begin, RuleSet& rules);
bool parse_target(Cursor& cursor, const RuleSet& rules, Rule& rule);
// Kinds of targets that the language has by name, so that no library can: "kernel", "sched", ...
bool is_target_kind(std::string_view name, const RuleSet& rules);

// ---- clauses (parse_clause.cpp)

bool is_clause_word(std::string_view word);
// `name` is where its name stands: each has one of its own.
void add_let(Cursor& cursor, Rule& rule, Let let, const Span& name);
bool parse_clause(Cursor& cursor, Rule& rule);
// To the next clause, or the end of the rule.
void skip_clause(Cursor& cursor);
// "{ ... }", which the next token begins.
void skip_braces(Cursor& cursor);

// each i in 0..8 { ... }: the clauses in braces, for each of these numbers (parse_each.cpp)
inline constexpr const char* kEach = "each";
struct Each {
    std::string name;
    Span span;  // of the name
    uint64_t first = 0, end = 0;
};
// To before the `{`.
std::optional<Each> parse_each_head(Cursor& cursor);
Let let_of(const Each& each, uint64_t number);

// Behind the word `largest`, which stood at `begin` (parse_largest.cpp).
bool parse_largest(Cursor& cursor, Rule& rule, uint32_t begin);
// Likewise behind `learn` and `forget` (parse_learn.cpp).
bool parse_learn(Cursor& cursor, Rule& rule, uint32_t begin);
bool parse_forget(Cursor& cursor, Rule& rule, uint32_t begin);

// ---- fields (parse_fields.cpp)

// What stands in parentheses behind `span` and `event`; they may be absent.
bool parse_fields(Cursor& cursor, std::vector<Field>& fields);
// One of them: "size = bytesize".
bool parse_field(Cursor& cursor, Field& field);

// ---- casts (parse_cast.cpp)

struct CastHead {
    std::string type;     // as CastExpr has it
    Span span;            // of the type
    uint32_t tokens = 0;  // that it consists of
};
// Whether a cast begins at the parenthesis that `from` begins with.
std::optional<CastHead> scan_cast(const Span& from);

// ---- expressions (parse_expr.cpp)

ExprPtr parse_expr(Cursor& cursor);
// The same, where `=` may follow.
ExprPtr parse_operand(Cursor& cursor);

}  // namespace mlbcc::rules
