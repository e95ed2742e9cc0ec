#include "rules/check.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "rules/checker.h"

namespace mlbcc::rules {
namespace {

struct BuiltinName {
    std::string_view name;
    Builtin which;
};
constexpr std::array<BuiltinName, 13> kBuiltins{{{"ret", Builtin::ret},
                                                 {"duration", Builtin::duration},
                                                 {"pid", Builtin::pid},
                                                 {"tid", Builtin::tid},
                                                 {"ppid", Builtin::ppid},
                                                 {"comm", Builtin::comm},
                                                 {"cpu", Builtin::cpu},
                                                 {"time", Builtin::time},
                                                 {"function", Builtin::function},
                                                 {"symbol", Builtin::symbol},
                                                 {"from_start", Builtin::from_start},
                                                 {"task", Builtin::task},
                                                 {"stack", Builtin::stack}}};

}  // namespace

std::string source_text(const Span& span) {
    if (span.file == nullptr) return {};
    return std::string(span.file->text().substr(span.begin, span.end - span.begin));
}

TypedPtr Checker::value(const Expr& expr) {
    struct Visitor {
        Checker& self;
        const Expr& expr;
        TypedPtr operator()(const NumberExpr& n) {
            return make({.node = ConstLeaf{n.value, n.unit},
                         .show = n.hex ? Show::unsigned_int : Show::signed_int,
                         .unit = n.unit,
                         .span = expr.span});
        }
        TypedPtr operator()(const CharExpr& c) {
            return make({.node = ConstLeaf{c.value, Unit::none},
                         .show = Show::signed_int,
                         .span = expr.span});
        }
        TypedPtr operator()(const StringExpr& s) {
            return make({.node = TextLeaf{s.value}, .show = Show::text, .span = expr.span});
        }
        TypedPtr operator()(const NameExpr& n) { return self.name(n, expr); }
        TypedPtr operator()(const ArgExpr& a) { return self.arg(a, expr); }
        TypedPtr operator()(const StrExpr& s) { return self.str(s, expr); }
        TypedPtr operator()(const FileNameExpr& f) { return self.file_name(f, expr); }
        TypedPtr operator()(const DemangleExpr& d) { return self.demangle(d, expr); }
        TypedPtr operator()(const LearntPartExpr& p) { return self.learnt_part(p, expr); }
        TypedPtr operator()(const NowExpr& n) { return self.now(n, expr); }
        TypedPtr operator()(const CastExpr& c) { return self.cast(c, expr); }
        TypedPtr operator()(const UnaryExpr& u) { return self.unary(u, expr); }
        TypedPtr operator()(const BinaryExpr& b) { return self.binary(b, expr); }
        TypedPtr operator()(const ConditionalExpr& c) { return self.conditional(c, expr); }
        TypedPtr operator()(const MemberExpr&) {
            auto place = self.lvalue(expr);
            return place ? self.load(*place, expr) : nullptr;
        }
        TypedPtr operator()(const IndexExpr& i) {
            if (const std::string* table = self.table_name(*i.object)) {
                return self.learnt(*table, *i.index, expr);
            }
            auto place = self.lvalue(expr);
            return place ? self.load(*place, expr) : nullptr;
        }
    };
    return std::visit(Visitor{*this, expr}, expr.node);
}

const Let* Checker::let_of(const std::string& name) const {
    for (size_t i = 0; i < known_lets_; ++i) {
        if ((*scope_.lets)[i].name == name) return &(*scope_.lets)[i];
    }
    return nullptr;
}

// As if its expression stood here, where only the names before it are known.
TypedPtr Checker::let_value(const Let& let, const Span& used, bool is_shown) {
    constexpr uint32_t kMost = 256;
    if (++expanded_ > kMost) {
        if (expanded_ == kMost + 1)
            diagnostics_
                .error(used,
                       fmt::format("names of `let` stand for more than {} expressions", kMost))
                .help("write it with fewer names in names");
        return fail();
    }
    const size_t before =
        std::exchange(known_lets_, static_cast<size_t>(&let - scope_.lets->data()));
    if (is_shown) shown_ = let.value.get();
    TypedPtr found = value(*let.value);
    known_lets_ = before;
    return found;
}

TypedPtr Checker::name(const NameExpr& node, const Expr& expr) {
    if (const Let* let = let_of(node.name)) return let_value(*let, expr.span, &expr == shown_);
    if (scope_.signature != nullptr) {
        for (uint32_t i = 0; i < scope_.signature->params.size(); ++i) {
            if (scope_.signature->params[i].name == node.name) return param_of(i, expr);
        }
    }
    for (const BuiltinName& known : kBuiltins) {
        if (known.name == node.name) return builtin(known.which, expr.span);
    }
    if (auto constant = scope_.types->constant(node.name)) {
        return make({.node = ConstLeaf{static_cast<uint64_t>(constant->value), Unit::none},
                     .type = constant->type,
                     .show = Show::enumeration,
                     .size = static_cast<uint8_t>(size_of(constant->type)),
                     .span = expr.span});
    }
    return unknown_name(node.name, expr.span);
}

TypedPtr Checker::param_of(uint32_t index, const Expr& expr) {
    TypedPtr value = param(index, expr.span, false);
    return value && &expr == shown_ ? list_of(value, expr) : value;
}

TypedPtr Checker::unknown_name(const std::string& name, const Span& span) {
    if (scope_.signature == nullptr) {
        diagnostics_
            .error(span,
                   quoted(name) + " is not known: " + quoted(scope_.function) + " has no prototype")
            .labelled("not known here")
            .help("write its prototype in the rule file, or use `arg(0)`, `arg(1)`, ...");
        return fail();
    }
    const char* kind = scope_.from_outside ? " is not a field of " : " is not a parameter of ";
    auto& error = diagnostics_.error(span, quoted(name) + kind + quoted(scope_.signature->name));
    error.labelled("not known here");
    if (!scope_.signature->place.path.empty()) {
        error.at("the prototype is here", scope_.signature->place);
    }
    std::vector<std::string> params, others = scope_.types->constant_names();
    for (const Param& param : scope_.signature->params) params.push_back(param.name);
    for (const BuiltinName& known : kBuiltins) others.emplace_back(known.name);
    for (size_t i = 0; i < known_lets_; ++i) others.push_back((*scope_.lets)[i].name);
    for (const std::string& table : *scope_.tables) others.push_back(table + "[...]");
    if (auto close = closest_name(name, params)) {
        error.help((scope_.from_outside ? "a field" : "a parameter") +
                   std::string(" with a similar name exists: ") + quoted(*close));
    } else if (auto other = closest_name(name, others)) {
        error.help("a similar name exists: " + quoted(*other));
    }
    return fail();
}

TypedPtr Checker::builtin(Builtin which, const Span& span) {
    Typed leaf{.node = BuiltinLeaf{which}, .span = span};
    switch (which) {
    case Builtin::ret: return ret(span, false);
    case Builtin::duration:
        if (scope_.entry_rule) return not_at_entry("duration", span, false);
        leaf.stage = Stage::ret;
        leaf.unit = Unit::nanoseconds;
        break;
    case Builtin::time: leaf.unit = Unit::nanoseconds; break;
    case Builtin::pid:
    case Builtin::tid:
    case Builtin::ppid:
    case Builtin::cpu: leaf.size = 4; break;
    case Builtin::comm: leaf.show = Show::comm; break;
    case Builtin::function: leaf.show = Show::function; break;
    case Builtin::symbol: leaf.show = Show::symbol; break;
    case Builtin::from_start: leaf.in_tracer = true; break;
    case Builtin::task: return task(std::move(leaf));
    case Builtin::stack:
        if (!scope_.has_stack || scope_.from_outside) return no_stack(span);
        leaf.show = Show::text;
        leaf.in_tracer = true;
        break;
    }
    return make(std::move(leaf));
}

TypedPtr Checker::no_stack(const Span& span) {
    auto& error = diagnostics_.error(span, "`stack` is not known here");
    if (scope_.from_outside) {
        error.note("it looks at processes, and not at what they are doing");
    } else {
        error.help("group by it (`count by stack`), or learn it (`learn t[key] = stack`); the "
                   "clause `stack user` adds it to events");
    }
    return fail();
}

TypedPtr Checker::task(Typed leaf) {
    if (scope_.from_outside || scope_.foreign) {
        diagnostics_.error(leaf.span, "`task` is not known to " + quoted(scope_.function))
            .note(scope_.from_outside
                      ? "it looks at processes from outside, and none of them runs then"
                      : "it may be about another thread than the one that runs then");
        return fail();
    }
    const Result<TypeId>& type = scope_.types->task();
    if (!type) {
        auto& error = diagnostics_.error(leaf.span, "nothing is known of what `task` points at");
        error.note(type.error().message());
        if (!type.error().help.empty()) error.help(type.error().help);
        return fail();
    }
    leaf.type = *type;
    leaf.show = Show::hex;
    return make(std::move(leaf));
}

bool Checker::is_out_of_reach(const Expr& expr, const char* note) {
    if (!scope_.from_outside) return false;
    diagnostics_
        .error(expr.span, quoted(source_text(expr.span)) + " is not known to " +
                              quoted(scope_.signature->name))
        .note(note)
        .help("`mlbcc list` shows the fields that there are");
    return true;
}

TypedPtr Checker::arg(const ArgExpr& node, const Expr& expr) {
    if (is_out_of_reach(expr, "it looks at processes; it is not a call with arguments"))
        return fail();
    if (scope_.signature != nullptr && node.index < scope_.signature->params.size()) {
        return param(node.index, expr.span, false);
    }
    bool past_end = scope_.signature != nullptr && !scope_.signature->variadic;
    if (past_end || node.index > kMaxArg) {
        auto& error =
            diagnostics_.error(expr.span, "there is no " + quoted(source_text(expr.span)));
        if (past_end) {
            error.note(quoted(scope_.signature->name) + " has " +
                       std::to_string(scope_.signature->params.size()) +
                       " parameters, and they count from 0");
        } else {
            error.note("arguments count from 0 to " + std::to_string(kMaxArg));
        }
        return fail();
    }
    return make({.node = ParamLeaf{node.index}, .show = Show::hex, .span = expr.span});
}

// Gives a leaf its C type, or says why a probe cannot read such a value.
TypedPtr Checker::typed_leaf(Typed leaf, TypeId id, const std::string& what, const Span& span,
                             bool quiet) {
    auto refuse = [&](const std::string& why) -> TypedPtr {
        if (!quiet) {
            diagnostics_.error(span, what + " cannot be read by a probe").note(why);
        }
        return nullptr;
    };
    const CType& c = type(id);
    leaf.type = id;
    if (std::holds_alternative<BoolType>(c.kind)) {
        leaf.show = Show::boolean;
        leaf.size = 1;
    } else if (const auto* integer = std::get_if<IntType>(&c.kind)) {
        if (integer->size > 8)
            return refuse("it is a " + quoted(c.spelling) + ", wider than 64 bits");
        leaf.size = integer->size;
        leaf.show = c.is_address         ? Show::hex
                    : integer->is_char   ? Show::character
                    : integer->is_signed ? Show::signed_int
                                         : Show::unsigned_int;
        if (c.is_byte_count) leaf.unit = Unit::bytes;
        if (c.is_nanoseconds) leaf.unit = Unit::nanoseconds;
    } else if (const auto* enumeration = std::get_if<EnumType>(&c.kind)) {
        leaf.size = enumeration->size;
        leaf.show = Show::enumeration;
        leaf.hex_unnamed = c.is_address;
    } else if (std::holds_alternative<PointerType>(c.kind) ||
               std::holds_alternative<ArrayType>(c.kind)) {
        leaf.show = Show::hex;
    } else if (const auto* real = std::get_if<FloatType>(&c.kind)) {
        if (std::holds_alternative<CastNode>(leaf.node))
            return refuse("BPF does not compute with floating-point numbers");
        if (!std::holds_alternative<LoadNode>(leaf.node)) {
            return refuse("it is a " + quoted(c.spelling) +
                          ": the kernel gives probes no floating-point registers, and what it has "
                          "saved of a thread's is old");
        }
        if (real->size > 8) return refuse("it is a " + quoted(c.spelling) + ", wider than 64 bits");
        leaf.size = real->size;
        leaf.show = Show::floating;
    } else if (std::holds_alternative<RecordType>(c.kind)) {
        return refuse("it is a " + quoted(c.spelling) + ": name one of its fields");
    } else {
        return refuse("it is a " + quoted(c.spelling));
    }
    return make(std::move(leaf));
}

TypedPtr Checker::not_at_entry(const char* name, const Span& span, bool quiet) {
    if (quiet) return fail();
    if (scope_.momentary) {
        diagnostics_.error(span, quoted(scope_.symbol) + " has no " + quoted(name))
            .note("it is a moment, not a call that begins and ends");
    } else {
        diagnostics_.error(span, quoted(name) + " is not known at entry")
            .help("remove `entry`: the rule then acts when the call returns");
    }
    return fail();
}

// Characters that are the parameter itself, as a tracepoint's record has them.
TypedPtr Checker::text_in_place(uint32_t param, uint64_t length, const Span& span) {
    auto place = make({.node = ParamLeaf{param}, .show = Show::hex, .span = span});
    uint32_t bytes = length < 2 ? 64 : static_cast<uint32_t>(std::min<uint64_t>(length, 512));
    return make({.node = TextNode{place, bytes}, .show = Show::text, .span = span});
}

TypedPtr Checker::param(uint32_t index, const Span& span, bool quiet) {
    const Param& param = scope_.signature->params[index];
    if (const auto* array = std::get_if<ArrayType>(&type(param.type).kind)) {
        const auto* of = std::get_if<IntType>(&type(array->of).kind);
        if (of != nullptr && of->is_char) return text_in_place(index, array->count, span);
    }
    return typed_leaf({.node = ParamLeaf{index}, .span = span}, param.type, quoted(param.name),
                      span, quiet);
}

TypedPtr Checker::ret(const Span& span, bool quiet) {
    if (scope_.entry_rule) return not_at_entry("ret", span, quiet);
    Typed leaf{.node = BuiltinLeaf{Builtin::ret}, .stage = Stage::ret, .span = span};
    if (scope_.signature == nullptr) {
        leaf.show = Show::hex;
        return make(std::move(leaf));
    }
    if (std::holds_alternative<VoidType>(type(scope_.signature->ret).kind)) {
        if (!quiet) {
            diagnostics_.error(span, quoted(scope_.signature->name) + " returns nothing")
                .labelled("not known here");
        }
        return fail();
    }
    return typed_leaf(std::move(leaf), scope_.signature->ret, "`ret`", span, quiet);
}

// `const char *` is text; a pointer to characters that the callee may write stays an address.
TypedPtr Checker::decay_to_text(TypedPtr value, uint32_t length) {
    if (!value || !value->type || value->in_tracer || scope_.from_outside) return value;
    const auto* pointer = std::get_if<PointerType>(&type(*value->type).kind);
    if (pointer == nullptr || !pointer->to_const) return value;
    const auto* to = std::get_if<IntType>(&type(pointer->to).kind);
    if (to == nullptr || !to->is_char) return value;
    return make({.node = TextNode{value, length},
                 .stage = value->stage,
                 .show = Show::text,
                 .span = value->span});
}

TypedPtr Checker::shown(const Expr& expr) {
    if (scope_.lists) shown_ = &expr;
    return decay_to_text(value(expr));
}

TypedPtr check(const Expr& expr, const Scope& scope, Diagnostics& diagnostics) {
    return Checker(scope, diagnostics).shown(expr);
}

TypedPtr check_param(uint32_t index, const Scope& scope) {
    Diagnostics unused;
    Checker checker(scope, unused);
    if (scope.signature == nullptr) {
        return make({.node = ParamLeaf{index}, .show = Show::hex});
    }
    if (TypedPtr value = checker.whole_param(index)) return value;
    return make({.node = UnreadLeaf{}, .show = Show::floating, .in_tracer = true});
}

TypedPtr check_ret(const Scope& scope) {
    Diagnostics unused;
    Checker checker(scope, unused);
    return checker.decay_to_text(checker.ret({}, true));
}

}  // namespace mlbcc::rules
