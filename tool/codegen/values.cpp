#include "codegen/values.h"
#include "codegen/codegen.h"

#include <algorithm>
#include <optional>
#include <variant>

namespace mlbcc::codegen {
namespace {

using Values = std::vector<rules::TypedPtr>;

void add(Values& to, const Values& more) {
    to.insert(to.end(), more.begin(), more.end());
}

void add(Values& to, const std::optional<plan::RecordPlan>& record) {
    if (!record) return;
    for (const plan::Capture& one : record->captures) to.push_back(one.value);
}

void add(Values& to, const plan::AggregateUse& use) {
    add(to, use.by);
    if (use.value) to.push_back(use.value);
}

}  // namespace

std::vector<rules::TypedPtr> computed_at_entry(const plan::ProbePlan& probe) {
    Values values;
    for (const plan::RulePart& part : probe.parts) add(values, part.entry_where);
    add(values, probe.entry);
    for (const plan::Saved& one : probe.saved) values.push_back(one.value);
    for (const plan::AggregateUse& use : probe.aggregates) {
        if (use.at_entry) add(values, use);
    }
    return values;
}

std::vector<rules::TypedPtr> computed(const plan::ProbePlan& probe) {
    Values values = computed_at_entry(probe);
    for (const plan::RulePart& part : probe.parts) add(values, part.return_where);
    add(values, probe.ret);
    for (const plan::AggregateUse& use : probe.aggregates) {
        if (!use.at_entry) add(values, use);
    }
    return values;
}

bool asks_for_outcome(const plan::ProbePlan& probe) {
    if (probe.ret && probe.ret->ret_field) return true;
    const auto is_outcome = [](const rules::Typed& part) {
        const auto* leaf = std::get_if<rules::BuiltinLeaf>(&part.node);
        if (leaf != nullptr) return leaf->which == rules::Builtin::ret;
        return part.stage == rules::Stage::ret && is_program_memory(part);
    };
    return std::ranges::any_of(computed(probe), [&](const rules::TypedPtr& value) {
        return rules::any_part(*value, is_outcome);
    });
}

bool is_program_memory(const rules::Typed& value) {
    if (const auto* text = std::get_if<rules::TextNode>(&value.node))
        return !text->of_file && !rules::is_of_task(*text->pointer);
    const auto* node = std::get_if<rules::LoadNode>(&value.node);
    return node != nullptr && !rules::is_of_task(*node->pointer);
}

}  // namespace mlbcc::codegen
