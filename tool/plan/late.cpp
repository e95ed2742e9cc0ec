// Values of which the kernel can compute only a part, and the clauses that keep what was seen for
// later: gauges and learnt tables.
#include "plan/planner.h"

namespace mlbcc::plan {

LatePtr ProbePlanner::late(RecordPlan& record, const rules::TypedPtr& value) {
    auto made = [&](decltype(Late::node) node) {
        return std::make_shared<const Late>(Late{std::move(node), value_type(*value)});
    };
    if (const auto* number = std::get_if<rules::ConstLeaf>(&value->node)) {
        return made(LateNumber{number->bits});
    }
    if (const auto* text = std::get_if<rules::TextLeaf>(&value->node)) {
        return made(LateText{text->text});
    }
    if (!value->in_tracer || rules::is_name_of_key(*value)) {
        return made(LateField{capture(record, value)});
    }
    if (std::holds_alternative<rules::LearntNode>(value->node)) {
        return late_look_up(record, *value);
    }
    if (const auto* now = std::get_if<rules::NowNode>(&value->node)) {
        return made(LateNow{now->gauge, now->group ? late(record, now->group) : nullptr});
    }
    if (const auto* cast = std::get_if<rules::CastNode>(&value->node)) {
        return made(LateUnary{rules::UnaryOp::plus, late(record, cast->operand)});
    }
    if (const auto* unary = std::get_if<rules::UnaryNode>(&value->node)) {
        return made(LateUnary{unary->op, late(record, unary->operand)});
    }
    if (const auto* binary = std::get_if<rules::BinaryNode>(&value->node)) {
        LatePtr left = late(record, binary->left);
        return made(LateBinary{binary->op, std::move(left), late(record, binary->right)});
    }
    const auto* choice = std::get_if<rules::ConditionalNode>(&value->node);
    MLBCC_CHECK(choice != nullptr);  // the checker lets nothing else be the tracer's
    LatePtr condition = late(record, choice->condition), yes = late(record, choice->yes);
    return made(LateConditional{std::move(condition), std::move(yes), late(record, choice->no)});
}

LatePtr ProbePlanner::late_look_up(RecordPlan& record, const rules::Typed& value) {
    const auto& learnt = std::get<rules::LearntNode>(value.node);
    return std::make_shared<const Late>(
        Late{LateLearnt{learnt.table, late(record, learnt.key), learnt.as}, value_type(value)});
}

void ProbePlanner::gauge(RuleContext& context, const rules::GaugeClause& clause) {
    GaugeEmit emit{.name = clause.name, .op = clause.op};
    std::vector<std::pair<const rules::Expr*, LatePtr*>> parts;
    if (clause.key) parts.emplace_back(clause.key.get(), &emit.key);
    if (clause.value) parts.emplace_back(clause.value.get(), &emit.value);
    if (clause.owner) parts.emplace_back(clause.owner.get(), &emit.owner);
    RecordPlan& plan = work_record(context);
    for (auto& [expr, slot] : parts) {
        const char* what = slot == &emit.key     ? "the key of a gauge"
                           : slot == &emit.owner ? "the owner of a gauge's part"
                                                 : "a gauge";
        rules::TypedPtr value = number(context, *expr, what);
        if (!value) return;
        if (slot != &emit.key && rules::is_name_of_key(*value)) {
            value = rules::learnt_as(value, rules::LearntAs::number);
        }
        *slot = late(plan, value);
    }
    if (clause.by.size() > 1) {
        Diagnostics found;
        found.error(clause.by[1].span, "a gauge is told apart by one value")
            .help("use a gauge for each");
        return builder_.report(found);
    }
    if (!clause.by.empty()) {
        rules::TypedPtr group = checked(context, *clause.by[0].value);
        if (!group) return;
        emit.group = late(plan, group);
        emit.group_name = clause.by[0].name;
    }
    plan.emits.push_back(
        {context.bit, context.part.rule, context.stack, context.python, std::move(emit)});
}

void ProbePlanner::learn(RuleContext& context, const rules::LearnClause& clause) {
    RecordPlan& plan = work_record(context);
    LearnEmit emit{clause.table, clause.op, nullptr, nullptr, nullptr};
    for (auto [expr, slot] : {std::pair{clause.key.get(), &emit.key},
                              std::pair{clause.end.get(), &emit.end}}) {
        if (expr == nullptr) continue;
        rules::TypedPtr key = number(context, *expr, "the key of a learnt table");
        if (!key) return;
        if (rules::is_name_of_key(*key)) {
            key = rules::learnt_as(key, rules::LearntAs::number);
        }
        *slot = late(plan, key);
    }
    if (clause.value) {
        rules::TypedPtr value = checked(context, *clause.value);
        if (!value) return;
        bool look_up = std::holds_alternative<rules::LearntNode>(value->node);
        emit.value = look_up ? late_look_up(plan, *value) : late(plan, value);
    }
    add_emit(plan, context, std::move(emit));
}

}  // namespace mlbcc::plan
