// Checks operators. Arithmetic is done in 64 bits whatever the operands' C types are, so products
// of 32-bit values do not wrap; it is unsigned where one side is, as in C.
#include "rules/checker.h"

namespace mlbcc::rules {
namespace {

bool is_comparison(BinaryOp op) {
    return op == BinaryOp::lt || op == BinaryOp::le || op == BinaryOp::gt || op == BinaryOp::ge ||
           op == BinaryOp::eq || op == BinaryOp::ne;
}

// 64-bit signed arithmetic is right for every value that fits: all but unsigned ones of 64 bits.
bool is_signed(const Typed& value) {
    if (value.show == Show::hex) return false;
    return value.size < 8 || value.show == Show::signed_int || value.show == Show::enumeration ||
           value.show == Show::boolean;
}

Show arithmetic_show(BinaryOp op, const Typed& left, const Typed& right) {
    if (is_comparison(op) || op == BinaryOp::logical_and || op == BinaryOp::logical_or) {
        return Show::boolean;
    }
    if (left.show == Show::hex || right.show == Show::hex) return Show::hex;
    return is_signed(left) && is_signed(right) ? Show::signed_int : Show::unsigned_int;
}

Unit arithmetic_unit(BinaryOp op, const Typed& left, const Typed& right) {
    switch (op) {
    case BinaryOp::mul:
    case BinaryOp::add:
    case BinaryOp::sub: return left.unit != Unit::none ? left.unit : right.unit;
    case BinaryOp::div: return right.unit == Unit::none ? left.unit : Unit::none;
    case BinaryOp::mod:
    case BinaryOp::shl:
    case BinaryOp::shr:
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor: return left.unit;
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge:
    case BinaryOp::eq:
    case BinaryOp::ne:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
    case BinaryOp::starts_with:
    case BinaryOp::ends_with:
    case BinaryOp::contains:
    case BinaryOp::matches: return Unit::none;
    }
    return Unit::none;
}

// Beside a string, what was learnt is text.
void learnt_text(TypedPtr& left, TypedPtr& right) {
    auto as_text = [](TypedPtr& one, const TypedPtr& other) {
        const auto* learnt = std::get_if<LearntNode>(&one->node);
        if (learnt == nullptr || learnt->as != LearntAs::shown) return;
        if (std::holds_alternative<TextLeaf>(other->node)) one = learnt_as(one, LearntAs::text);
    };
    as_text(left, right);
    as_text(right, left);
}

}  // namespace

// What was learnt is a number where one is wanted.
bool Checker::numeric(TypedPtr& operand, const char* what) {
    const auto* learnt = std::get_if<LearntNode>(&operand->node);
    if (learnt != nullptr && learnt->as == LearntAs::shown) {
        operand = learnt_as(operand, LearntAs::number);
    }
    if (operand->show == Show::floating) {
        diagnostics_
            .error(operand->span, quoted(source_text(operand->span)) +
                                      " is a floating-point number, and " + what + " is an integer")
            .note("BPF does not compute with floating-point numbers")
            .help("it can be shown in events, and grouped by");
        return false;
    }
    if (!operand->is_text()) return true;
    diagnostics_
        .error(operand->span,
               quoted(source_text(operand->span)) + " is text, and " + what + " is a number")
        .help("text can be shown, grouped by, and compared with `==` and `!=`");
    return false;
}

TypedPtr Checker::cast(const CastExpr& node, const Expr& expr) {
    TypedPtr operand = value(*node.operand);
    if (!operand || !numeric(operand, "what is cast")) return fail();
    const Signature* prototype = scope_.types->function(cast_prototype(node.type));
    if (prototype == nullptr || prototype->params.size() != 1) return fail();  // clang said why
    Typed leaf{.node = CastNode{operand}, .stage = operand->stage, .span = expr.span};
    leaf.unit = operand->unit;
    return typed_leaf(std::move(leaf), prototype->params[0].type, quoted(source_text(expr.span)),
                      expr.span, false);
}

TypedPtr Checker::unary(const UnaryExpr& node, const Expr& expr) {
    if (node.op == UnaryOp::deref) {
        auto place = lvalue(expr);
        return place ? load(*place, expr) : nullptr;
    }
    if (node.op == UnaryOp::in_python) return in_python(node, expr);
    if (node.op == UnaryOp::address) {
        size_t before = diagnostics_.error_count();
        auto place = lvalue(*node.operand);
        if (place && place->pointer) return address(*place, expr.span);
        if (diagnostics_.error_count() > before) return fail();
        diagnostics_.error(expr.span, quoted(source_text(node.operand->span)) + " has no address");
        return fail();
    }
    TypedPtr operand = value(*node.operand);
    if (!operand || !numeric(operand, "an operand")) return fail();
    Typed result{.node = UnaryNode{node.op, operand},
                 .stage = operand->stage,
                 .show = operand->show == Show::hex ? Show::hex : Show::signed_int,
                 .unit = operand->unit,
                 .span = expr.span};
    if (node.op == UnaryOp::logical_not) result.show = Show::boolean;
    if (node.op == UnaryOp::bit_not && !is_signed(*operand)) result.show = operand->show;
    if (node.op == UnaryOp::plus && !is_signed(*operand)) result.show = operand->show;
    return make(std::move(result));
}

// Where the process's Python is, the kernel's programs know.
TypedPtr Checker::in_python(const UnaryExpr& node, const Expr& expr) {
    if (is_out_of_reach(expr, kNoMemory)) return fail();
    TypedPtr address = value(*node.operand);
    if (!address || !in_kernel(address) || !numeric(address, "an address")) return fail();
    return make({.node = UnaryNode{node.op, address},
                 .stage = address->stage,
                 .show = Show::boolean,
                 .span = expr.span});
}

TypedPtr Checker::binary(const BinaryExpr& node, const Expr& expr) {
    TypedPtr left = value(*node.left), right = value(*node.right);
    if (!left || !right) return fail();
    learnt_text(left, right);
    bool literal = std::holds_alternative<TextLeaf>(left->node) ||
                   std::holds_alternative<TextLeaf>(right->node);
    if (is_of_text(node.op)) return part_of_text(node.op, left, right, expr);
    if (literal || left->is_text() || right->is_text()) {
        return compare_text(node.op, decay_to_text(left), decay_to_text(right), expr);
    }
    if (!numeric(left, "an operand") || !numeric(right, "an operand")) return fail();
    if (node.op == BinaryOp::add || node.op == BinaryOp::sub) {
        auto steps = [&](const TypedPtr& p) {
            return p->type && std::holds_alternative<PointerType>(type(*p->type).kind);
        };
        if (steps(left) && !steps(right)) return pointer_step(node.op, left, right, expr);
    }
    return make({.node = BinaryNode{node.op, left, right},
                 .stage = later(left->stage, right->stage),
                 .show = arithmetic_show(node.op, *left, *right),
                 .unit = arithmetic_unit(node.op, *left, *right),
                 .span = expr.span});
}

// p + 2 is the address of the element after next, as in C.
TypedPtr Checker::pointer_step(BinaryOp op, const TypedPtr& pointer, const TypedPtr& steps,
                               const Expr& expr) {
    uint64_t size = size_of(std::get<PointerType>(type(*pointer->type).kind).to);
    TypedPtr scaled = steps;
    if (size > 1) {
        TypedPtr factor = make({.node = ConstLeaf{size, Unit::none}, .show = Show::signed_int});
        scaled = make({.node = BinaryNode{BinaryOp::mul, steps, factor}, .stage = steps->stage});
    }
    return make({.node = BinaryNode{op, pointer, scaled},
                 .type = pointer->type,
                 .stage = later(pointer->stage, steps->stage),
                 .show = Show::hex,
                 .span = expr.span});
}

TypedPtr Checker::compare_text(BinaryOp op, TypedPtr left, TypedPtr right, const Expr& expr) {
    if (std::holds_alternative<TextLeaf>(left->node)) std::swap(left, right);
    const auto* literal = std::get_if<TextLeaf>(&right->node);
    bool comparable =
        left->is_text() && literal != nullptr && !std::holds_alternative<TextLeaf>(left->node);
    if (!comparable || (op != BinaryOp::eq && op != BinaryOp::ne)) {
        diagnostics_.error(expr.span, "text can only be compared with a string")
            .help("compare `const char *` parameters and `comm` by `==` or `!=` with a literal");
        return fail();
    }
    if (!as_written(left, expr)) return fail();
    if (left->show == Show::function || left->show == Show::symbol) {  // decided right here
        const std::string& name = left->show == Show::function ? scope_.function : scope_.symbol;
        return make({.node = ConstLeaf{text_holds(op, name, literal->text) ? 1u : 0u, Unit::none},
                     .show = Show::boolean,
                     .span = expr.span});
    }
    return make({.node = BinaryNode{op, left, right},
                 .stage = left->stage,
                 .show = Show::boolean,
                 .span = expr.span});
}

// What is decoded later is not known to a condition.
bool Checker::as_written(const TypedPtr& text, const Expr& expr) {
    if (!text->demangle) return true;
    diagnostics_.error(expr.span, "a name is demangled in the trace, not where it is compared")
        .help("compare the name as the compiler wrote it, without `demangle`");
    return false;
}

TypedPtr Checker::conditional(const ConditionalExpr& node, const Expr& expr) {
    TypedPtr condition = value(*node.condition), yes = value(*node.yes), no = value(*node.no);
    if (!condition || !yes || !no) return fail();
    if (yes->is_text() && no->is_text() && numeric(condition, "a condition")) {
        return make({.node = ConditionalNode{condition, yes, no},
                     .stage = later(condition->stage, later(yes->stage, no->stage)),
                     .show = Show::text,
                     .in_tracer = true,  // texts are of different lengths
                     .span = expr.span});
    }
    if (!numeric(condition, "a condition") || !numeric(yes, "an alternative") ||
        !numeric(no, "an alternative")) {
        return fail();
    }
    Typed result{.node = ConditionalNode{condition, yes, no},
                 .stage = later(condition->stage, later(yes->stage, no->stage)),
                 .show = arithmetic_show(BinaryOp::add, *yes, *no),
                 .unit = arithmetic_unit(BinaryOp::add, *yes, *no),
                 .span = expr.span};
    if (yes->type && no->type && *yes->type == *no->type) {
        result.type = yes->type;
        result.show = yes->show;
        result.size = yes->size;
    }
    return make(std::move(result));
}

std::vector<TypedPtr> conjuncts(const TypedPtr& condition) {
    const auto* node = std::get_if<BinaryNode>(&condition->node);
    if (node == nullptr || node->op != BinaryOp::logical_and) return {condition};
    std::vector<TypedPtr> all = conjuncts(node->left);
    for (TypedPtr& right : conjuncts(node->right)) all.push_back(std::move(right));
    return all;
}

bool is_of_task(const Typed& value) {
    if (const auto* leaf = std::get_if<BuiltinLeaf>(&value.node)) {
        return leaf->which == Builtin::task;
    }
    if (const auto* load = std::get_if<LoadNode>(&value.node)) return is_of_task(*load->pointer);
    if (const auto* at = std::get_if<AddressNode>(&value.node)) return is_of_task(*at->pointer);
    if (const auto* text = std::get_if<TextNode>(&value.node)) return is_of_task(*text->pointer);
    const auto* cast = std::get_if<CastNode>(&value.node);
    return cast != nullptr && is_of_task(*cast->operand);
}

namespace {

// An index may be an argument.
bool has_known_indexes(const Typed& value) {
    bool known = true;
    if (const auto* load = std::get_if<LoadNode>(&value.node)) {
        known = !load->index || always_known(*load->index);
    } else if (const auto* at = std::get_if<AddressNode>(&value.node)) {
        known = !at->index || always_known(*at->index);
    }
    for_each_operand(value, [&](const TypedPtr& part) {
        known = known && (!is_of_task(*part) || has_known_indexes(*part));
    });
    return known;
}

}  // namespace

bool always_known(const Typed& value) {
    if (is_of_task(value)) return has_known_indexes(value);
    if (std::holds_alternative<ConstLeaf>(value.node)) return true;
    if (std::holds_alternative<TextLeaf>(value.node)) return true;
    const auto* leaf = std::get_if<BuiltinLeaf>(&value.node);
    return leaf != nullptr && leaf->which != Builtin::ret && leaf->which != Builtin::duration;
}

}  // namespace mlbcc::rules
