#include "event/evaluate.h"

#include "base/result.h"

namespace mlbcc::event {
namespace {

using rules::BinaryOp;

Number truth(bool holds, bool unread) {
    return {holds ? 1u : 0u, true, unread};
}

uint64_t magnitude(uint64_t bits) {
    return static_cast<int64_t>(bits) < 0 ? 0 - bits : bits;
}

// As mlbcc_signed_div and its kind of probe_templates/runtime.bpf.c.
uint64_t divided(BinaryOp op, uint64_t a, uint64_t b, bool is_signed) {
    if (b == 0) return 0;
    if (!is_signed) return op == BinaryOp::div ? a / b : a % b;
    bool a_negative = static_cast<int64_t>(a) < 0, b_negative = static_cast<int64_t>(b) < 0;
    if (op == BinaryOp::mod) {
        uint64_t rest = magnitude(a) % magnitude(b);
        return a_negative ? 0 - rest : rest;
    }
    uint64_t size = magnitude(a) / magnitude(b);
    return a_negative != b_negative ? 0 - size : size;
}

uint64_t shifted(BinaryOp op, const Number& left, uint64_t by) {
    by &= 63;
    if (op == BinaryOp::shl) return left.bits << by;
    return left.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(left.bits) >> by)
                          : left.bits >> by;
}

bool less(const Number& a, const Number& b, bool is_signed) {
    return is_signed ? static_cast<int64_t>(a.bits) < static_cast<int64_t>(b.bits)
                     : a.bits < b.bits;
}

Number combined(BinaryOp op, const Number& a, const Number& b) {
    bool both = a.is_signed && b.is_signed, unread = a.unread || b.unread;
    switch (op) {
    case BinaryOp::mul: return {a.bits * b.bits, both, unread};
    case BinaryOp::add: return {a.bits + b.bits, both, unread};
    case BinaryOp::sub: return {a.bits - b.bits, both, unread};
    case BinaryOp::div:
    case BinaryOp::mod: return {divided(op, a.bits, b.bits, both), both, unread};
    case BinaryOp::shl:
    case BinaryOp::shr: return {shifted(op, a, b.bits), a.is_signed, unread};
    case BinaryOp::bit_and: return {a.bits & b.bits, both, unread};
    case BinaryOp::bit_xor: return {a.bits ^ b.bits, both, unread};
    case BinaryOp::bit_or: return {a.bits | b.bits, both, unread};
    case BinaryOp::lt: return truth(less(a, b, both), unread);
    case BinaryOp::le: return truth(!less(b, a, both), unread);
    case BinaryOp::gt: return truth(less(b, a, both), unread);
    case BinaryOp::ge: return truth(!less(a, b, both), unread);
    case BinaryOp::eq: return truth(a.bits == b.bits, unread);
    case BinaryOp::ne: return truth(a.bits != b.bits, unread);
    case BinaryOp::logical_and: return truth(a.bits != 0 && b.bits != 0, unread);
    case BinaryOp::logical_or: return truth(a.bits != 0 || b.bits != 0, unread);
    case BinaryOp::starts_with: break;  // of text
    }
    MLBCC_UNREACHABLE();
}

Number negated(rules::UnaryOp op, const Number& operand) {
    switch (op) {
    case rules::UnaryOp::minus: return {0 - operand.bits, true, operand.unread};
    case rules::UnaryOp::plus: return operand;
    case rules::UnaryOp::bit_not: return {~operand.bits, operand.is_signed, operand.unread};
    case rules::UnaryOp::logical_not: return truth(operand.bits == 0, operand.unread);
    case rules::UnaryOp::deref:
    case rules::UnaryOp::address: break;  // no memory is read from outside
    }
    MLBCC_UNREACHABLE();
}

}  // namespace

struct Evaluator::Visitor {
    const Evaluator& self;
    const rules::Typed& value;

    Number operator()(const rules::ParamLeaf& n) const {
        MLBCC_CHECK(n.index < self.look_.values.size());
        bool unread = (self.look_.unread >> n.index & 1) != 0;
        auto bits = static_cast<uint64_t>(self.look_.values[n.index]);
        return self.converted({bits, false, unread}, value);
    }
    Number operator()(const rules::BuiltinLeaf& n) const {
        switch (n.which) {
        case rules::Builtin::pid:
        case rules::Builtin::tid: return {self.look_.pid, true, false};  // of its main thread
        case rules::Builtin::ppid: return {self.look_.ppid, true, false};
        case rules::Builtin::cpu: return {self.look_.cpu, true, false};
        case rules::Builtin::time: return {self.look_.time_ns, false, false};
        case rules::Builtin::function:
        case rules::Builtin::symbol: return {static_cast<uint32_t>(self.look_.probe), false, false};
        case rules::Builtin::ret:
        case rules::Builtin::duration:
        case rules::Builtin::comm: break;
        }
        MLBCC_UNREACHABLE();
    }
    Number operator()(const rules::ConstLeaf& n) const {
        bool is_signed = value.show == rules::Show::signed_int ||
                         value.show == rules::Show::enumeration ||
                         value.show == rules::Show::boolean;
        return {n.bits, is_signed, false};
    }
    Number operator()(const rules::CastNode& n) const {
        return self.converted(self.number(*n.operand), value);
    }
    Number operator()(const rules::LearntNode& n) const { return self.number(*n.key); }
    Number operator()(const rules::UnaryNode& n) const {
        return negated(n.op, self.number(*n.operand));
    }
    Number operator()(const rules::BinaryNode& n) const { return self.binary(n); }
    Number operator()(const rules::ConditionalNode& n) const {
        Number condition = self.number(*n.condition);
        Number yes = self.number(*n.yes), no = self.number(*n.no);
        return {condition.bits != 0 ? yes.bits : no.bits, yes.is_signed && no.is_signed,
                condition.unread || yes.unread || no.unread};
    }
    Number operator()(const rules::TextLeaf&) const { MLBCC_UNREACHABLE(); }
    Number operator()(const rules::TextNode&) const { MLBCC_UNREACHABLE(); }
    Number operator()(const rules::LoadNode&) const { MLBCC_UNREACHABLE(); }
    Number operator()(const rules::AddressNode&) const { MLBCC_UNREACHABLE(); }
    Number operator()(const rules::StructArgLeaf&) const { MLBCC_UNREACHABLE(); }
};

Number Evaluator::number(const rules::Typed& value) const {
    return std::visit(Visitor{*this, value}, value.node);
}

// As writer.h's converted() writes it.
Number Evaluator::converted(Number from, const rules::Typed& value) const {
    if (value.show == rules::Show::boolean && value.size == 1) {
        return {(from.bits & 0xff) != 0 ? 1u : 0u, true, from.unread};
    }
    from.is_signed = rules::is_signed(value, types_);
    if (value.size >= 8) return from;
    unsigned unused = 64 - 8 * value.size;
    uint64_t high = from.bits << unused;
    from.bits = rules::may_be_negative(value, types_)
                    ? static_cast<uint64_t>(static_cast<int64_t>(high) >> unused)
                    : high >> unused;
    return from;
}

Number Evaluator::binary(const rules::BinaryNode& node) const {
    if (node.left->is_text()) return compare_text(node);
    return combined(node.op, number(*node.left), number(*node.right));
}

Number Evaluator::compare_text(const rules::BinaryNode& node) const {
    std::string_view left = text(*node.left), right = text(*node.right);
    bool holds = node.op == BinaryOp::starts_with ? left.starts_with(right)
                                                  : (left == right) == (node.op == BinaryOp::eq);
    return truth(holds, false);
}

std::string_view Evaluator::text(const rules::Typed& value) const {
    if (const auto* literal = std::get_if<rules::TextLeaf>(&value.node)) return literal->text;
    return look_.comm;
}

bool Evaluator::holds(const rules::Typed& condition) const {
    Number number_of = number(condition);
    return !number_of.unread && number_of.bits != 0;
}

}  // namespace mlbcc::event
