// What a rule is about: functions of libraries, and the kinds of targets that have a keyword.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rules/literals.h"
#include "rules/parser.h"

namespace mlbcc::rules {

namespace {

constexpr std::string_view kFunctions = "a name or pattern of functions";

// ---- kinds that are no functions of libraries: what stands behind "KIND:"

using Node = decltype(Target::node);
using ParseTail = std::optional<Node> (*)(Cursor&);

std::optional<Pattern> pattern(Cursor& cursor, std::string_view wanted) {
    auto glob = cursor.expect_glob(wanted);
    if (!glob) return std::nullopt;
    return Pattern{glob->characters(), glob->span};
}

std::optional<Node> parse_kernel(Cursor& cursor) {
    auto function = pattern(cursor, "a name or pattern of functions of the kernel");
    if (!function) return std::nullopt;
    return KernelTarget{std::move(*function)};
}

std::optional<Node> parse_syscall(Cursor& cursor) {
    auto name = pattern(cursor, "a name or pattern of system calls");
    if (!name) return std::nullopt;
    return SyscallTarget{std::move(*name)};
}

// tracepoint:GLOB:GLOB
std::optional<Node> parse_tracepoint(Cursor& cursor) {
    auto category = pattern(cursor, "the category of a tracepoint");
    if (!category || !cursor.expect(TokenKind::colon, "`:`")) return std::nullopt;
    auto name = pattern(cursor, "the name of a tracepoint");
    if (!name) return std::nullopt;
    return TracepointTarget{std::move(*category), std::move(*name)};
}

// usdt:(NAME | STRING):NAME:NAME
std::optional<Node> parse_usdt(Cursor& cursor) {
    UsdtTarget target;
    target.quoted = cursor.at(TokenKind::string);
    auto library =
        target.quoted ? cursor.expect_string("a library") : cursor.expect_name("a library");
    if (!library || !cursor.expect(TokenKind::colon, "`:`")) return std::nullopt;
    target.library = std::move(*library);
    auto provider = pattern(cursor, "the provider of a probe");
    if (!provider || !cursor.expect(TokenKind::colon, "`:`")) return std::nullopt;
    auto name = pattern(cursor, "the name of a probe");
    if (!name) return std::nullopt;
    target.provider = std::move(*provider);
    target.name = std::move(*name);
    return target;
}

constexpr uint64_t kMaxPeriod = 86'400'000'000'000;  // ns: a day

std::optional<Node> parse_interval(Cursor& cursor) {
    auto period = parse_period(cursor, {"an interval", "1s", 1'000'000, "1ms"});
    if (!period) return std::nullopt;
    return IntervalTarget{*period};
}

struct KindRow {
    std::string_view name;
    ParseTail parse;
};
constexpr auto kKinds = std::to_array<KindRow>({
    {"kernel", parse_kernel},
    {"syscall", parse_syscall},
    {"tracepoint", parse_tracepoint},
    {"usdt", parse_usdt},
    {"interval", parse_interval},
});
// Groups of probes that the bundled templates define, so that the language has them whatever
// templates there are; others add their own.
constexpr auto kGroups = std::to_array<std::string_view>({"sched", "block", "mem", "lock", "net"});

const KindRow* find_kind(std::string_view name) {
    auto row = std::find_if(kKinds.begin(), kKinds.end(),
                            [&](const KindRow& kind) { return kind.name == name; });
    return row == kKinds.end() ? nullptr : &*row;
}

bool is_group(std::string_view name, const RuleSet& rules) {
    return std::ranges::find(kGroups, name) != kGroups.end() ||
           std::ranges::find(rules.definitions, name, &ProbeDefinition::group) !=
               rules.definitions.end();
}

// ---- functions of libraries

// "libc.so.6" of `libc.so.6:malloc`, where its first name was taken.
std::string_view word_begun(const Cursor& cursor) {
    const Span& begun = cursor.last().span;
    const std::string_view text = begun.file->text().substr(begun.begin);
    return text.substr(0, text.find_first_of(": \t\r\n,{"));
}

bool expect_colon(Cursor& cursor, std::string_view library) {
    if (cursor.accept(TokenKind::colon)) return true;
    const std::string_view word = word_begun(cursor);
    auto& error = cursor.unexpected(fmt::format("`:` after `{}`", library));
    if (word.size() > library.size()) {
        error.help(fmt::format("put the name of a file in quotes: `\"{}\":FUNCTION`", word));
    } else {
        error.help("a target is a library and its functions: `LIBRARY:FUNCTION`");
    }
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

std::optional<uint64_t> parse_period(Cursor& cursor, const PeriodWanted& wanted) {
    std::string expected = fmt::format("a time, such as `{}`", wanted.example);
    if (!cursor.at(TokenKind::number)) {
        cursor.unexpected(expected);
        return std::nullopt;
    }
    Token token = cursor.take();
    auto read = read_number(token.text());
    const auto* number = std::get_if<NumberExpr>(&read);
    if (number == nullptr || number->unit != Unit::nanoseconds) {
        cursor.error(token.span, fmt::format("expected {}, found `{}`", expected, token.text()))
            .help("a time is a number and `ms` or `s`");
        return std::nullopt;
    }
    if (number->value >= wanted.least_ns && number->value <= kMaxPeriod) return number->value;
    bool is_short = number->value < wanted.least_ns;
    cursor
        .error(token.span, fmt::format("`{}` is too {} for {}", token.text(),
                                       is_short ? "short" : "long", wanted.what))
        .help(is_short ? fmt::format("take `{}` or more", wanted.least) : "take `86400s` or less");
    return std::nullopt;
}

bool is_target_kind(std::string_view name, const RuleSet& rules) {
    return find_kind(name) != nullptr || is_group(name, rules);
}

// A name with no colon behind it.
bool parse_set(Cursor& cursor, const RuleSet& rules, Rule& rule) {
    const std::string name(cursor.take().text());
    const auto set = std::ranges::find(rules.sets, name, &TargetSet::name);
    if (set != rules.sets.end()) {
        rule.targets.insert(rule.targets.end(), set->targets.begin(), set->targets.end());
        return true;
    }
    auto& error =
        cursor.error(cursor.last().span, fmt::format("`{}` is neither a `set` nor a target", name));
    std::vector<std::string> names;
    for (const TargetSet& known : rules.sets) names.push_back(known.name);
    if (auto close = closest_name(name, names))
        error.help(fmt::format("a set with a similar name exists: `{}`", *close));
    error.help("a target is a library and its functions: `LIBRARY:FUNCTION`");
    return false;
}

bool parse_target(Cursor& cursor, const RuleSet& rules, Rule& rule) {
    uint32_t begin = cursor.begin();
    const Token& behind = cursor.peek();
    const bool ends_target = behind.kind == TokenKind::comma ||
                             behind.kind == TokenKind::left_brace || behind.is_word("except") ||
                             behind.first_on_line;
    if (cursor.at(TokenKind::name) && ends_target) return parse_set(cursor, rules, rule);
    FunctionTarget target;
    target.quoted = cursor.at(TokenKind::string);
    auto library = target.quoted ? cursor.expect_string("a library")
                                 : cursor.expect_name("a library and its functions");
    if (!library) return false;
    target.library = *library;
    target.library_span = cursor.last().span;
    if (!expect_colon(cursor, cursor.last().text())) return false;
    if (!target.quoted && is_group(target.library, rules)) {
        auto name = pattern(cursor, "the name of a probe");
        if (name) rule.targets.push_back({cursor.since(begin), DefinedTarget{*library, *name}});
        return name.has_value();
    }
    const KindRow* kind = target.quoted ? nullptr : find_kind(target.library);
    if (kind == nullptr) return parse_function(cursor, rule, std::move(target), begin);
    std::optional<Node> node = kind->parse(cursor);
    if (node) rule.targets.push_back({cursor.since(begin), std::move(*node)});
    return node.has_value();
}

}  // namespace mlbcc::rules
