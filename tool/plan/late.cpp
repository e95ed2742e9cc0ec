// Values of which the kernel can compute only a part, and the clauses that keep what was seen for
// later: gauges, learnt tables, lists of the largest.
#include <algorithm>
#include <cstddef>

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

// The kernel could compute it, too. Records of the operands alone are alike for more functions, so
// that there are fewer programs to compile.
bool ProbePlanner::is_left_to_tracer(const rules::Typed& value) const {
    if (!is_function(probe_.kind)) return false;
    if (const auto* leaf = std::get_if<rules::BuiltinLeaf>(&value.node)) {
        return leaf->which == rules::Builtin::duration;
    }
    const auto* unary = std::get_if<rules::UnaryNode>(&value.node);
    const auto* binary = std::get_if<rules::BinaryNode>(&value.node);
    if (unary != nullptr) {
        return unary->op != rules::UnaryOp::deref && unary->op != rules::UnaryOp::address &&
               unary->op != rules::UnaryOp::in_python;
    }
    return binary != nullptr && !binary->left->is_text() && !binary->right->is_text();
}

LatePtr ProbePlanner::late_duration(RecordPlan& record, const rules::Typed& value) {
    const auto field = [&](uint32_t offset) {
        uint32_t index = header_field(record, {.offset = offset, .placed = true});
        return std::make_shared<const Late>(Late{LateField{index}, ValueType()});
    };
    LatePtr end = field(offsetof(RecordHeader, time_ns));
    LatePtr start = field(sizeof(RecordHeader) + offsetof(ReturnHeader, start_ns));
    LateBinary node{rules::BinaryOp::sub, std::move(end), std::move(start)};
    return std::make_shared<const Late>(Late{std::move(node), value_type(value)});
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
    const bool to_tracer = is_left_to_tracer(*value);
    if (to_tracer && std::holds_alternative<rules::BuiltinLeaf>(value->node)) {
        return late_duration(record, *value);
    }
    if (in_record(*value) && !to_tracer) return made(LateField{capture(record, value)});
    if (std::holds_alternative<rules::LearntNode>(value->node)) {
        return late_look_up(record, *value);
    }
    const auto* leaf = std::get_if<rules::BuiltinLeaf>(&value->node);
    if (leaf != nullptr && leaf->which == rules::Builtin::from_start) {
        return made(LateFromStart{});
    }
    if (leaf != nullptr && leaf->which == rules::Builtin::stack) return made(LateStack{});
    if (const auto* list = std::get_if<rules::ListNode>(&value->node)) {
        LateList node;
        for (const rules::TypedPtr& one : list->elements)
            node.elements.push_back(late(record, one));
        return made(std::move(node));
    }
    if (std::holds_alternative<rules::UnreadLeaf>(value->node)) return made(LateUnread{});
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
        found.error(clause.by[1].span, "a gauge has one group: name one value behind `by`")
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
    add_stack_emit(work_record(context), context, std::move(emit));
}

// `learn t[key] = stack`, where no parameter is called so.
bool ProbePlanner::is_stack(const rules::LearnClause& clause) const {
    const auto* name = clause.value ? std::get_if<rules::NameExpr>(&clause.value->node) : nullptr;
    if (name == nullptr || name->name != "stack") return false;
    auto is_it = [](const rules::Param& param) { return param.name == "stack"; };
    return probe_.signature == nullptr || std::ranges::none_of(probe_.signature->params, is_it);
}

bool ProbePlanner::can_take_stack(const RuleContext& context, const rules::LearnClause& clause) {
    Diagnostics found;
    const Span& where = clause.value->span;
    if (!context.stack.any()) {
        found.error(where, "the rule takes no stack that could be learnt")
            .help("add `stack user`, `stack kernel` or `stack python` to the rule");
    }
    if (clause.op != rules::LearnOp::set) {
        found.error(where, "a stack is learnt by `=`");
    }
    builder_.report(found);
    return !found.has_errors();
}

void ProbePlanner::learn(RuleContext& context, const rules::LearnClause& clause) {
    LearnEmit emit{clause.table, clause.op, nullptr, nullptr, nullptr};
    emit.key = late_number(context, clause.key, "the key of a learnt table");
    if (clause.end) emit.end = late_number(context, clause.end, "the end of a range of keys");
    emit.takes_stack = is_stack(clause);
    rules::TypedPtr value =
        clause.value && !emit.takes_stack ? checked(context, *clause.value) : nullptr;
    bool whole = emit.key && !clause.end == !emit.end &&
                 (emit.takes_stack ? can_take_stack(context, clause) : !clause.value == !value);
    // As an operand its bits would be taken for a number.
    if (value && value->show == rules::Show::floating)
        whole &= is_integer(*value, "what is learnt");
    if (!whole) return;
    RecordPlan& plan = work_record(context);
    if (emit.takes_stack) return add_stack_emit(plan, context, std::move(emit));
    if (value) {
        bool look_up = std::holds_alternative<rules::LearntNode>(value->node);
        emit.value = look_up ? late_look_up(plan, *value) : late(plan, value);
    }
    add_emit(plan, context, std::move(emit));
}

void ProbePlanner::largest(RuleContext& context, const rules::Clause& one) {
    const auto& clause = std::get<rules::LargestClause>(one.node);
    LargestEmit emit;
    emit.by = late_number(context, clause.by.value, "what is largest");
    std::vector<Named> named = fields(context, clause.fields, false);
    if (!emit.by) return;
    RecordPlan& plan = work_record(context);
    emit.list = list_id(context, one, emit.by->type);
    for (const Named& field : named) emit.fields.push_back(named_field(plan, field, context));
    add_stack_emit(plan, context, std::move(emit));
}

ListId ProbePlanner::list_id(const RuleContext& context, const rules::Clause& one,
                             const ValueType& by) {
    const auto& clause = std::get<rules::LargestClause>(one.node);
    std::vector<LargestList>& lists = builder_.plan.lists;
    auto [id, is_new] = builder_.plan.list_ids.try_emplace(&one, static_cast<ListId>(lists.size()));
    if (is_new) {
        lists.push_back({context.part.rule, clause.title, clause.by.name, clause.count, by.unit});
    }
    LargestList& list = lists[static_cast<uint32_t>(id->second)];
    list.is_signed |= may_be_negative(by, *builder_.plan.types);
    // Of a function's forms an old one may have a plain number.
    if (list.unit == rules::Unit::none) list.unit = by.unit;
    return id->second;
}

}  // namespace mlbcc::plan
