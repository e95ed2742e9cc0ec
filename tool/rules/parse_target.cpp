// What a rule is about: functions of libraries, and the kinds of targets that this version only
// knows by name.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rules/parser.h"

namespace mlbcc::rules {

namespace {

constexpr std::string_view kFunctions = "a name or pattern of functions";

// ---- kinds that cannot be traced yet: what stands behind "KIND:"

using ParseTail = bool (*)(Cursor&);

bool parse_one(Cursor& cursor) {
    return cursor.expect_glob("a name or pattern").has_value();
}

// tracepoint:GLOB:GLOB
bool parse_tracepoint(Cursor& cursor) {
    return cursor.expect_glob("the category of a tracepoint") &&
           cursor.expect(TokenKind::colon, "`:`") && cursor.expect_glob("the name of a tracepoint");
}

// usdt:(NAME | STRING):NAME:NAME
bool parse_usdt(Cursor& cursor) {
    bool quoted = cursor.at(TokenKind::string);
    bool has_library = quoted ? cursor.expect_string("a library").has_value()
                              : cursor.expect_name("a library").has_value();
    return has_library && cursor.expect(TokenKind::colon, "`:`") &&
           cursor.expect_name("the provider of a probe") &&
           cursor.expect(TokenKind::colon, "`:`") && cursor.expect_name("the name of a probe");
}

// interval:NUMBER
bool parse_interval(Cursor& cursor) {
    return cursor.expect(TokenKind::number, "a time, such as `1s`");
}

struct KindRow {
    std::string_view name;
    ParseTail parse;
};
constexpr auto kKinds = std::to_array<KindRow>({
    {"kernel", parse_one},
    {"syscall", parse_one},
    {"tracepoint", parse_tracepoint},
    {"usdt", parse_usdt},
    {"interval", parse_interval},
    {"sched", parse_one},
    {"block", parse_one},
    {"mem", parse_one},
    {"lock", parse_one},
    {"net", parse_one},
});

const KindRow* find_kind(std::string_view name) {
    auto row = std::find_if(kKinds.begin(), kKinds.end(),
                            [&](const KindRow& kind) { return kind.name == name; });
    return row == kKinds.end() ? nullptr : &*row;
}

// The rule keeps a target that was an error, so that nobody takes it for a rule without targets; an
// optional rule goes on without it.
void add_unsupported(Cursor& cursor, Rule& rule, std::string kind, Span span) {
    auto message = fmt::format("`{}` targets cannot be traced by this version", kind);
    if (rule.optional) {
        cursor.diagnostics()
            .note(span, message)
            .labelled("left out")
            .note("the rule is kept without this target, as it is `optional`");
        return;
    }
    cursor.error(span, message)
        .labelled("not a function of a library")
        .help("name functions of libraries, or mark the rule `optional` to go on without this "
              "target");
    rule.targets.push_back({span, UnsupportedTarget{std::move(kind)}});
}

// ---- functions of libraries

bool expect_colon(Cursor& cursor, std::string_view library) {
    if (cursor.accept(TokenKind::colon)) return true;
    cursor.unexpected(fmt::format("`:` after `{}`", library))
        .help("a target is a library and its functions: `LIBRARY:FUNCTION`");
    return false;
}

bool parse_function(Cursor& cursor, Rule& rule, FunctionTarget target, uint32_t begin) {
    auto pattern = cursor.expect_glob(kFunctions);
    if (!pattern) return false;
    target.pattern = pattern->characters();
    target.pattern_span = pattern->span;
    rule.targets.push_back({cursor.since(begin), std::move(target)});
    return true;
}

}  // namespace

bool is_target_kind(std::string_view name) {
    return find_kind(name) != nullptr;
}

bool parse_target(Cursor& cursor, Rule& rule) {
    uint32_t begin = cursor.begin();
    FunctionTarget target;
    target.quoted = cursor.at(TokenKind::string);
    auto library = target.quoted ? cursor.expect_string("a library")
                                 : cursor.expect_name("a library and its functions");
    if (!library) return false;
    target.library = *library;
    target.library_span = cursor.last().span;
    if (!expect_colon(cursor, cursor.last().text())) return false;
    const KindRow* kind = target.quoted ? nullptr : find_kind(target.library);
    if (kind == nullptr) return parse_function(cursor, rule, std::move(target), begin);
    if (!kind->parse(cursor)) return false;
    add_unsupported(cursor, rule, std::move(*library), cursor.since(begin));
    return true;
}

}  // namespace mlbcc::rules
