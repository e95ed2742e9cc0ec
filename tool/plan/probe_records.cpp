#include "plan/probe_records.h"

#include <algorithm>
#include <cstddef>

#include "plan/stored_values.h"

namespace mlbcc::plan {

RecordPlan& ProbeRecords::at(rules::Stage stage) {
    auto& slot = stage == rules::Stage::entry ? probe_.entry : probe_.ret;
    if (!slot) slot.emplace();
    return *slot;
}

uint32_t ProbeRecords::capture(RecordPlan& record, const rules::TypedPtr& value) {
    std::string text = rules::to_text(*value);
    for (const Capture& known : record.captures) {
        if (rules::to_text(*known.value) == text) return known.field;
    }
    if (auto offset = in_header(*value)) {
        return header_field(record, {value_type(*value), *offset, stored_size(*value), true});
    }
    auto index = static_cast<uint32_t>(record.layout.fields.size());
    record.layout.fields.push_back({.type = value_type(*value), .size = stored_size(*value)});
    record.captures.push_back({value, index});
    return index;
}

uint32_t ProbeRecords::header_field(RecordPlan& record, RecordSlot field) {
    std::vector<RecordSlot>& all = record.layout.fields;
    auto known = std::ranges::find_if(all, [&](const RecordSlot& one) {
        return one.placed && one.offset == field.offset && one.type == field.type;
    });
    if (known == all.end()) known = all.insert(known, std::move(field));
    return static_cast<uint32_t>(known - all.begin());
}

std::optional<uint32_t> ProbeRecords::in_header(const rules::Typed& value) const {
    const auto* leaf = std::get_if<rules::BuiltinLeaf>(&value.node);
    if (leaf == nullptr || probe_.kind == ProbeKind::interval) return std::nullopt;
    switch (leaf->which) {
    case rules::Builtin::time: return offsetof(RecordHeader, time_ns);
    case rules::Builtin::pid: return offsetof(RecordHeader, pid);
    case rules::Builtin::tid: return offsetof(RecordHeader, tid);
    case rules::Builtin::comm: return offsetof(RecordHeader, comm);
    case rules::Builtin::ret:
    case rules::Builtin::duration:
    case rules::Builtin::ppid:
    case rules::Builtin::cpu:
    case rules::Builtin::function:
    case rules::Builtin::symbol:
    case rules::Builtin::from_start:
    case rules::Builtin::task:
    case rules::Builtin::stack: break;
    }
    return std::nullopt;
}

// The kernel computes; at an interval it is the tracer that looks, and computes all.
bool ProbeRecords::can_have(const rules::Typed& value) const {
    const auto* learnt = std::get_if<rules::LearntNode>(&value.node);
    if (learnt != nullptr) return rules::is_name_of_key(value) && can_have(*learnt->key);
    if (value.in_tracer) return false;
    return probe_.kind != ProbeKind::interval ||
           std::holds_alternative<rules::ParamLeaf>(value.node) ||
           std::holds_alternative<rules::BuiltinLeaf>(value.node);
}

// The kernel could compute it, too. Records of the operands alone are alike for more functions, so
// that there are fewer programs to compile.
bool ProbeRecords::is_left_to_tracer(const rules::Typed& value) const {
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

LatePtr ProbeRecords::late_duration(RecordPlan& record, const rules::Typed& value) {
    const auto field = [&](uint32_t offset) {
        uint32_t index = header_field(record, {.offset = offset, .placed = true});
        return std::make_shared<const Late>(Late{LateField{index}, ValueType()});
    };
    LatePtr end = field(offsetof(RecordHeader, time_ns));
    LatePtr start = field(sizeof(RecordHeader) + offsetof(ReturnHeader, start_ns));
    LateBinary node{rules::BinaryOp::sub, std::move(end), std::move(start)};
    return std::make_shared<const Late>(Late{std::move(node), value_type(value)});
}

LatePtr ProbeRecords::late(RecordPlan& record, const rules::TypedPtr& value) {
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
    if (can_have(*value) && !to_tracer) return made(LateField{capture(record, value)});
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
        bool is_signed =
            rules::is_signed(*binary->left, types_) && rules::is_signed(*binary->right, types_);
        return made(
            LateBinary{binary->op, std::move(left), late(record, binary->right), is_signed});
    }
    const auto* choice = std::get_if<rules::ConditionalNode>(&value->node);
    MLBCC_CHECK(choice != nullptr);  // the checker lets nothing else be the tracer's
    LatePtr condition = late(record, choice->condition), yes = late(record, choice->yes);
    return made(LateConditional{std::move(condition), std::move(yes), late(record, choice->no)});
}

LatePtr ProbeRecords::late_look_up(RecordPlan& record, const rules::Typed& value) {
    const auto& learnt = std::get<rules::LearntNode>(value.node);
    return std::make_shared<const Late>(
        Late{LateLearnt{learnt.table, late(record, learnt.key), learnt.as}, value_type(value)});
}

NamedField ProbeRecords::named_field(RecordPlan& record, const AskedValue& named, uint32_t mask) {
    if (!is_stored(*named.value)) return {named.name, 0, mask, late(record, named.value)};
    return {named.name, capture(record, named.value), mask, nullptr};
}

}  // namespace mlbcc::plan
