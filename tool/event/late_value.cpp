#include "event/late_value.h"

#include "symbols/stacks.h"

namespace mlbcc::event {
namespace {

bool is_text(const plan::ValueType& type) {
    using Kind = plan::ValueType::Kind;
    return type.kind == Kind::text || type.kind == Kind::comm || type.kind == Kind::function ||
           type.kind == Kind::symbol;
}

int64_t as_signed(uint64_t bits) {
    return static_cast<int64_t>(bits);
}

bool less(uint64_t a, uint64_t b, bool with_sign) {
    return with_sign ? as_signed(a) < as_signed(b) : a < b;
}

// As in the kernel (probe_templates/runtime.bpf.c): by 0 it is 0.
uint64_t divided(uint64_t a, uint64_t b, bool with_sign) {
    if (b == 0) return 0;
    if (!with_sign) return a / b;
    if (b == UINT64_MAX) return 0 - a;
    return static_cast<uint64_t>(as_signed(a) / as_signed(b));
}
uint64_t remainder(uint64_t a, uint64_t b, bool with_sign) {
    return b == 0 ? 0 : a - divided(a, b, with_sign) * b;
}

uint64_t shifted_right(uint64_t a, uint64_t by, bool with_sign) {
    return with_sign ? static_cast<uint64_t>(as_signed(a) >> (by & 63)) : a >> (by & 63);
}

uint64_t computed(rules::BinaryOp op, uint64_t a, uint64_t b, bool with_sign) {
    using Op = rules::BinaryOp;
    switch (op) {
    case Op::mul: return a * b;
    case Op::div: return divided(a, b, with_sign);
    case Op::mod: return remainder(a, b, with_sign);
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::shl: return a << (b & 63);
    case Op::shr: return shifted_right(a, b, with_sign);
    case Op::lt: return less(a, b, with_sign) ? 1 : 0;
    case Op::le: return less(b, a, with_sign) ? 0 : 1;
    case Op::gt: return less(b, a, with_sign) ? 1 : 0;
    case Op::ge: return less(a, b, with_sign) ? 0 : 1;
    case Op::eq: return a == b ? 1 : 0;
    case Op::ne: return a != b ? 1 : 0;
    case Op::bit_and: return a & b;
    case Op::bit_xor: return a ^ b;
    case Op::bit_or: return a | b;
    case Op::logical_and: return a != 0 && b != 0 ? 1 : 0;
    case Op::logical_or: return a != 0 || b != 0 ? 1 : 0;
    case Op::starts_with:
    case Op::ends_with:
    case Op::contains:
    case Op::matches: return 0;  // of text
    }
    return 0;
}

}  // namespace

LateReader::LateReader(const plan::Late& late, const plan::RecordLayout& layout, EnumTable& enums,
                       const Tables& tables, const Gauges& gauges)
    : type_(&late.type), node_(Constant{}) {
    if (type_->kind == plan::ValueType::Kind::enumeration && type_->enum_type) {
        enum_ = enums.names(*type_->enum_type);
    }
    auto child = [&](const plan::LatePtr& one) -> Child {
        if (!one) return nullptr;
        return std::make_unique<const LateReader>(*one, layout, enums, tables, gauges);
    };
    if (const auto* field = std::get_if<plan::LateField>(&late.node)) {
        node_ = ValueReader(layout, field->field, enums, tables);
    } else if (const auto* bits = std::get_if<plan::LateNumber>(&late.node)) {
        node_ = Constant{number(bits->bits)};
    } else if (const auto* text = std::get_if<plan::LateText>(&late.node)) {
        node_ = Constant{{type_, 0, text->text, false, false}};
    } else if (const auto* learnt = std::get_if<plan::LateLearnt>(&late.node)) {
        node_ = LookUp{*tables.table(learnt->table), child(learnt->key), learnt->as};
    } else if (const auto* now = std::get_if<plan::LateNow>(&late.node)) {
        node_ = Now{gauges.gauge(now->gauge), child(now->group)};
    } else if (std::holds_alternative<plan::LateFromStart>(late.node)) {
        node_ = FromStart{};
    } else if (std::holds_alternative<plan::LateStack>(late.node)) {
        node_ = TakenStack{};
    } else if (const auto* list = std::get_if<plan::LateList>(&late.node)) {
        List& made = node_.emplace<List>();
        for (const plan::LatePtr& element : list->elements) made.elements.push_back(child(element));
    } else if (std::holds_alternative<plan::LateUnread>(late.node)) {
        node_ = Unread{};
    } else if (const auto* one = std::get_if<plan::LateUnary>(&late.node)) {
        node_ = Unary{one->op, child(one->operand)};
    } else if (const auto* two = std::get_if<plan::LateBinary>(&late.node)) {
        bool texts = is_text(two->left->type) || is_text(two->right->type);
        node_ = Binary{two->op, child(two->left), child(two->right), two->is_signed, texts};
    } else if (const auto* choice = std::get_if<plan::LateConditional>(&late.node)) {
        node_ = Conditional{child(choice->condition), child(choice->yes), child(choice->no)};
    }
}

Value LateReader::number(uint64_t bits) const {
    Value value{type_, bits, {}, false, false};
    if (enum_ != nullptr) value.text = enum_->find(bits);
    return value;
}

bool LateReader::is_each() const {
    const auto* node = std::get_if<LookUp>(&node_);
    return node != nullptr && node->as == rules::LearntAs::each;
}

const LearntEntry* LateReader::entry(const ValueContext& context) const {
    const auto* node = std::get_if<LookUp>(&node_);
    if (node == nullptr) return nullptr;
    Value key = node->key->read(context);
    return key.unread ? nullptr : context.tables.entry(node->table, context.pid, key.bits);
}

Value LateReader::look_up(const LookUp& node, const ValueContext& context) const {
    Value key = node.key->read(context);
    if (key.unread) return {type_, 0, {}, false, true};
    const LearntEntry* known = context.tables.entry(node.table, context.pid, key.bits);
    switch (node.as) {
    case rules::LearntAs::shown: {
        auto value = context.tables.find(node.table, context.pid, key.bits);
        return value ? *value : Value{type_, 0, {}, false, true};  // a key that was looked up, too
    }
    case rules::LearntAs::number:
        if (known == nullptr) return number(0);
        return number(known->bag ? known->bag->size() : known->value.bits);
    case rules::LearntAs::text: [[fallthrough]];
    case rules::LearntAs::each: {
        auto value = context.tables.find(node.table, context.pid, key.bits);
        return {type_, 0, value ? value->text : std::string_view(), false, false};
    }
    case rules::LearntAs::size:
        if (known == nullptr) return number(0);
        return number(known->bag ? known->bag->size() : known->hidden.size() + 1);
    }
    return number(0);
}

Value LateReader::unary(const Unary& node, const ValueContext& context) const {
    Value operand = node.operand->read(context);
    if (operand.unread) return operand;
    switch (node.op) {
    case rules::UnaryOp::minus: return number(0 - operand.bits);
    case rules::UnaryOp::bit_not: return number(~operand.bits);
    case rules::UnaryOp::logical_not: return number(operand.bits == 0 ? 1 : 0);
    case rules::UnaryOp::plus:
    case rules::UnaryOp::deref:
    case rules::UnaryOp::address:
    case rules::UnaryOp::in_python: break;
    }
    return number(operand.bits);
}

Value LateReader::binary(const Binary& node, const ValueContext& context) const {
    Value left = node.left->read(context);
    if (left.unread) return {type_, 0, {}, false, true};
    // As in C, what need not be known may be unknown.
    if (node.op == rules::BinaryOp::logical_and && left.bits == 0) return number(0);
    if (node.op == rules::BinaryOp::logical_or && left.bits != 0) return number(1);
    Value right = node.right->read(context);
    if (right.unread) return {type_, 0, {}, false, true};
    if (node.is_text) return number(rules::text_holds(node.op, left.text, right.text) ? 1 : 0);
    return number(computed(node.op, left.bits, right.bits, node.is_signed));
}

Value LateReader::read(const ValueContext& context) const {
    struct Visitor {
        const LateReader& self;
        const ValueContext& context;
        Value operator()(const ValueReader& field) const { return field.read(context); }
        Value operator()(const Constant& constant) const { return constant.value; }
        Value operator()(const LookUp& node) const { return self.look_up(node, context); }
        Value operator()(const Now& node) const {
            std::optional<Value> group;
            if (node.group) group = node.group->read(context);
            int64_t now = context.gauges->now(node.gauge, context.pid, group);
            return self.number(static_cast<uint64_t>(now));
        }
        Value operator()(const FromStart&) const {
            return self.number(context.tables.from_start(context.pid) ? 1 : 0);
        }
        Value operator()(const TakenStack&) const {
            symbols::Stack* stack = context.stack;
            if (stack == nullptr) return {self.type_, 0, {}, false, true};
            return {self.type_, 0, stack->text, true, false, stack};  // told apart by all of it
        }
        Value operator()(const List& node) const {
            node.values.clear();
            for (const Child& one : node.elements) node.values.push_back(one->read(context));
            Value value{self.type_};
            value.list = node.values;
            return value;
        }
        Value operator()(const Unread&) const { return {self.type_, 0, {}, false, true}; }
        Value operator()(const Unary& node) const { return self.unary(node, context); }
        Value operator()(const Binary& node) const { return self.binary(node, context); }
        Value operator()(const Conditional& node) const {
            Value condition = node.condition->read(context);
            if (condition.unread) return {self.type_, 0, {}, false, true};
            Value chosen = (condition.bits != 0 ? node.yes : node.no)->read(context);
            bool as_it_is = chosen.unread || is_text(*self.type_);
            return as_it_is ? chosen : self.number(chosen.bits);
        }
    };
    return std::visit(Visitor{*this, context}, node_);
}

bool LateReader::holds(const ValueContext& context) const {
    Value value = read(context);
    return !value.unread && value.bits != 0;
}

}  // namespace mlbcc::event
