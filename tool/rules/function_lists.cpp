// Lists of functions that have a name: where rules say it, their patterns stand.
#include <algorithm>
#include <utility>

#include "rules/parser.h"

namespace mlbcc::rules {

namespace {

std::optional<uint32_t> list_named(const RuleSet& rules, std::string_view name) {
    auto found = std::ranges::find(rules.lists, name, &FunctionList::name);
    if (found == rules.lists.end()) return std::nullopt;
    return static_cast<uint32_t>(found - rules.lists.begin());
}

std::vector<Glob> expanded(const RuleSet& rules, std::vector<Glob> except) {
    std::vector<Glob> all;
    for (Glob& one : except) {
        const auto list = list_named(rules, one.pattern);
        if (!list) {
            all.push_back(std::move(one));
            continue;
        }
        for (const Glob& pattern : rules.lists[*list].patterns)
            all.push_back({pattern.pattern, one.span, list});
    }
    return all;
}

std::vector<Target> expanded(const RuleSet& rules, std::vector<Target> targets) {
    std::vector<Target> all;
    for (Target& one : targets) {
        const auto* function = std::get_if<FunctionTarget>(&one.node);
        const auto list = function != nullptr ? list_named(rules, function->pattern) : std::nullopt;
        if (!list) {
            all.push_back(std::move(one));
            continue;
        }
        for (const Glob& pattern : rules.lists[*list].patterns) {
            FunctionTarget made = *function;
            made.pattern = pattern.pattern;
            made.list = list;
            all.push_back({one.span, std::move(made)});
        }
    }
    return all;
}

}  // namespace

void expand_lists(RuleSet& rules) {
    if (rules.lists.empty()) return;
    for (Rule& rule : rules.rules) {
        rule.except = expanded(rules, std::move(rule.except));
        rule.targets = expanded(rules, std::move(rule.targets));
    }
}

}  // namespace mlbcc::rules
