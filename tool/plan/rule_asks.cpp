#include "plan/rule_asks.h"

#include <algorithm>

namespace mlbcc::plan {
namespace {

bool groups_by_stack(const rules::Rule& rule) {
    const auto is_stack = [](const rules::Field& field) {
        const auto* name = field.value ? std::get_if<rules::NameExpr>(&field.value->node) : nullptr;
        return name != nullptr && name->name == "stack";
    };
    return std::ranges::any_of(rule.clauses, [&](const rules::Clause& clause) {
        const auto* count = std::get_if<rules::CountClause>(&clause.node);
        const auto* sum = std::get_if<rules::SumClause>(&clause.node);
        const auto* hist = std::get_if<rules::HistClause>(&clause.node);
        const rules::Kept* kept = count != nullptr  ? &count->kept
                                  : sum != nullptr  ? &sum->kept
                                  : hist != nullptr ? &hist->kept
                                                    : nullptr;
        return kept != nullptr && std::ranges::any_of(kept->by, is_stack);
    });
}

}  // namespace

rules::StackKinds wanted_stacks(const rules::Rule& rule) {
    rules::StackKinds wanted;
    for (const rules::Clause& clause : rule.clauses) {
        if (const auto* stack = std::get_if<rules::StackClause>(&clause.node))
            wanted.add(stack->kind);
    }
    if (!wanted.any() && groups_by_stack(rule)) wanted.add(rules::StackKind::user);
    return wanted;
}

bool wants_span(const rules::Rule& rule) {
    return std::any_of(rule.clauses.begin(), rule.clauses.end(), [](const rules::Clause& clause) {
        return std::holds_alternative<rules::SpanClause>(clause.node);
    });
}

}  // namespace mlbcc::plan
