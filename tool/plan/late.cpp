// Values of which the kernel can compute only a part, and the clauses that keep what was seen for
// later: gauges and learnt tables.
#include "plan/planner.h"

namespace mlbcc::plan {

// The kernel computes; at an interval it is the tracer that looks, and computes all.
bool ProbePlanner::in_record(const rules::Typed& value) const {
    const auto* learnt = std::get_if<rules::LearntNode>(&value.node);
    if (learnt != nullptr) return rules::is_name_of_key(value) && in_record(*learnt->key);
    if (value.in_tracer) return false;
    return probe_.kind != ProbeKind::interval ||
           std::holds_alternative<rules::ParamLeaf>(value.node) ||
           std::holds_alternative<rules::BuiltinLeaf>(value.node);
}

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
    if (in_record(*value)) return made(LateField{capture(record, value)});
    if (std::holds_alternative<rules::LearntNode>(value->node)) {
        return late_look_up(record, *value);
    }
    const auto* leaf = std::get_if<rules::BuiltinLeaf>(&value->node);
    if (leaf != nullptr && leaf->which == rules::Builtin::from_start) {
        return made(LateFromStart{});
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
        bool is_signed = rules::is_signed(*binary->left, *builder_.plan.types) &&
                         rules::is_signed(*binary->right, *builder_.plan.types);
        return made(
            LateBinary{binary->op, std::move(left), late(record, binary->right), is_signed});
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

// The key, end, owner or value of something that is kept: a name that was learnt is a number here.
LatePtr ProbePlanner::late_number(RuleContext& context, const rules::ExprPtr& expr,
                                  const char* what) {
    rules::TypedPtr value = number(context, *expr, what);
    if (!value) return nullptr;
    if (rules::is_name_of_key(*value)) value = rules::learnt_as(value, rules::LearntAs::number);
    return late(work_record(context), value);
}

void ProbePlanner::gauge(RuleContext& context, const rules::GaugeClause& clause) {
    GaugeEmit emit{.name = clause.name, .op = clause.op};
    if (clause.key) {
        rules::TypedPtr key = number(context, *clause.key, "the key of a gauge");
        if (key) emit.key = late(work_record(context), key);
    }
    if (clause.value) emit.value = late_number(context, clause.value, "a gauge");
    if (clause.owner) emit.owner = late_number(context, clause.owner, "the owner in a gauge");
    if (clause.by.size() > 1) {
        Diagnostics found;
        found.error(clause.by[1].span, "a gauge is told apart by one value")
            .help("use a gauge for each");
        return builder_.report(found);
    }
    if (!clause.by.empty()) {
        rules::TypedPtr group = checked(context, *clause.by[0].value);
        if (!group) return;
        emit.group = late(work_record(context), group);
        emit.group_name = clause.by[0].name;
    }
    bool whole =
        !clause.key == !emit.key && !clause.value == !emit.value && !clause.owner == !emit.owner;
    if (!whole) return;  // mistakes were told
    work_record(context).emits.push_back({context.bit, context.part.rule, context.stack,
                                          context.python, std::move(emit), context.kernel});
}

void ProbePlanner::learn(RuleContext& context, const rules::LearnClause& clause) {
    LearnEmit emit{clause.table, clause.op, nullptr, nullptr, nullptr};
    emit.key = late_number(context, clause.key, "the key of a learnt table");
    if (clause.end) emit.end = late_number(context, clause.end, "the end of a range of keys");
    rules::TypedPtr value = clause.value ? checked(context, *clause.value) : nullptr;
    bool whole = emit.key && !clause.end == !emit.end && !clause.value == !value;
    if (!whole) return;
    RecordPlan& plan = work_record(context);
    if (value) {
        bool look_up = std::holds_alternative<rules::LearntNode>(value->node);
        emit.value = look_up ? late_look_up(plan, *value) : late(plan, value);
    }
    add_emit(plan, context, std::move(emit));
}

}  // namespace mlbcc::plan
