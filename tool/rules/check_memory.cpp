// Checks what reads the traced process's memory: *p, p->f, s.f, p[i], str(p), table[key].
#include <algorithm>

#include "rules/checker.h"

namespace mlbcc::rules {
namespace {

constexpr uint32_t kMangledText = 256;  // bytes of `demangle(name)`
constexpr uint32_t kMaxText = 512;  // bytes: a record with its strings fits in a thread's scratch

}  // namespace

uint64_t Checker::size_of(TypeId id) const {
    struct Size {
        const Checker& self;
        uint64_t operator()(const VoidType&) const { return 0; }
        uint64_t operator()(const BoolType&) const { return 1; }
        uint64_t operator()(const IntType& t) const { return t.size; }
        uint64_t operator()(const FloatType& t) const { return t.size; }
        uint64_t operator()(const EnumType& t) const { return t.size; }
        uint64_t operator()(const PointerType&) const { return 8; }
        uint64_t operator()(const ArrayType& t) const { return self.size_of(t.of) * t.count; }
        uint64_t operator()(const RecordType& t) const { return t.complete ? t.size : 0; }
        uint64_t operator()(const FunctionType&) const { return 0; }
    };
    return std::visit(Size{*this}, type(id).kind);
}

std::optional<Lvalue> Checker::lvalue(const Expr& expr) {
    if (const auto* unary = std::get_if<UnaryExpr>(&expr.node)) {
        if (unary->op != UnaryOp::deref) return std::nullopt;
        TypedPtr pointer = value(*unary->operand);
        return pointer ? pointee(pointer, expr) : std::nullopt;
    }
    if (const auto* node = std::get_if<MemberExpr>(&expr.node)) return member(*node, expr);
    if (const auto* node = std::get_if<IndexExpr>(&expr.node)) return element(*node, expr);
    return struct_param(expr);
}

// A parameter that is a struct passed by value.
std::optional<Lvalue> Checker::struct_param(const Expr& expr) {
    const auto* named = std::get_if<NameExpr>(&expr.node);
    if (named == nullptr || scope_.signature == nullptr) return std::nullopt;
    for (uint32_t i = 0; i < scope_.signature->params.size(); ++i) {
        const Param& param = scope_.signature->params[i];
        if (param.name != named->name) continue;
        if (!std::holds_alternative<RecordType>(type(param.type).kind)) return std::nullopt;
        return Lvalue{.param = i, .type = param.type};
    }
    return std::nullopt;
}

// What the callee may write is read when it has returned.
Stage Checker::read_stage(const TypedPtr& pointer, bool to_const) const {
    const bool now = to_const || scope_.momentary || is_of_task(*pointer);
    return now ? pointer->stage : Stage::ret;
}

std::optional<Lvalue> Checker::pointee(const TypedPtr& pointer, const Expr& expr) {
    if (!in_kernel(pointer)) return std::nullopt;
    if (auto place = array_param(pointer)) {
        place->type = std::get<ArrayType>(type(place->type).kind).of;
        return place;
    }
    const PointerType* to = nullptr;
    if (pointer->type) to = std::get_if<PointerType>(&type(*pointer->type).kind);
    if (to == nullptr) {
        auto& error =
            diagnostics_.error(expr.span, quoted(source_text(pointer->span)) + " is not a pointer");
        if (pointer->type) error.note("its type is " + quoted(type(*pointer->type).spelling));
        return std::nullopt;
    }
    if (is_out_of_reach(expr, kNoMemory)) return std::nullopt;
    if (size_of(to->to) == 0) {
        diagnostics_
            .error(expr.span,
                   "nothing is known of what " + quoted(source_text(pointer->span)) + " points at")
            .note("its type is " + quoted(type(*pointer->type).spelling))
            .help("use it without reading through it, or give its struct in the rule file");
        return std::nullopt;
    }
    Stage stage = read_stage(pointer, to->to_const);
    return Lvalue{.pointer = pointer, .type = to->to, .stage = stage};
}

std::optional<Lvalue> Checker::member(const MemberExpr& node, const Expr& expr) {
    std::optional<Lvalue> place;
    if (node.arrow) {
        TypedPtr pointer = value(*node.object);
        if (!pointer) return std::nullopt;
        place = pointee(pointer, expr);
    } else {
        size_t before = diagnostics_.error_count();
        place = lvalue(*node.object);
        if (!place && diagnostics_.error_count() == before) {
            TypedPtr object = value(*node.object);
            if (object) {
                auto& error = diagnostics_.error(expr.span, quoted(source_text(node.object->span)) +
                                                                " is not a struct");
                if (object->type) error.note("its type is " + quoted(type(*object->type).spelling));
                error.help("of a pointer, fields are read with `->`");
            }
        }
    }
    if (!place) return std::nullopt;
    const auto* record = std::get_if<RecordType>(&type(place->type).kind);
    if (record == nullptr) {
        diagnostics_.error(expr.span, quoted(type(place->type).spelling) + " has no fields");
        return std::nullopt;
    }
    for (const RecordField& field : record->fields) {
        if (field.name != node.field) continue;
        place->offset += field.offset;
        place->bit_offset = field.bit_offset;
        place->bit_width = field.bit_width;
        place->type = field.type;
        return place;
    }
    auto& error = diagnostics_.error(node.field_span, quoted(node.field) + " is not a field of " +
                                                          quoted(type(place->type).spelling));
    std::vector<std::string> names;
    for (const RecordField& field : record->fields) names.push_back(field.name);
    if (auto close = closest_name(node.field, names)) {
        error.help("a field with a similar name exists: " + quoted(*close));
    }
    return std::nullopt;
}

std::optional<Lvalue> Checker::element(const IndexExpr& node, const Expr& expr) {
    TypedPtr index = value(*node.index);
    if (!index || !numeric(index, "an index")) return std::nullopt;
    std::optional<Lvalue> place;
    bool array_of_struct = std::holds_alternative<MemberExpr>(node.object->node) ||
                           std::holds_alternative<IndexExpr>(node.object->node);
    if (array_of_struct) place = lvalue(*node.object);
    if (place && std::holds_alternative<ArrayType>(type(place->type).kind)) {
        const auto& array = std::get<ArrayType>(type(place->type).kind);
        const auto* number = std::get_if<ConstLeaf>(&index->node);
        bool by_value = place->pointer == nullptr && number != nullptr;
        if (by_value && number->bits >= array.count) {
            diagnostics_.error(expr.span, "there is no " + quoted(source_text(expr.span)))
                .note(quoted(source_text(node.object->span)) + " has " +
                      std::to_string(array.count) + " elements, and they count from 0");
            return std::nullopt;
        }
        place->type = array.of;
    } else {
        TypedPtr pointer = place ? load(*place, *node.object) : value(*node.object);
        if (!pointer) return std::nullopt;
        place = pointee(pointer, expr);
        if (!place) return std::nullopt;
    }
    auto scale = static_cast<uint32_t>(size_of(place->type));
    if (const auto* constant = std::get_if<ConstLeaf>(&index->node)) {
        place->offset += static_cast<uint32_t>(constant->bits) * scale;
        return place;
    }
    if (place->pointer == nullptr) {
        diagnostics_.error(expr.span, "an index into a struct passed by value must be a number");
        return std::nullopt;
    }
    if (place->index) {  // p[i].a[j]: the inner address becomes a pointer of its own
        place->pointer = address(*place, expr.span);
        place->offset = 0;
    }
    place->index = index;
    place->scale = scale;
    place->stage = later(place->stage, index->stage);
    return place;
}

TypedPtr Checker::address(const Lvalue& place, const Span& span) {
    Stage stage = place.pointer->stage;
    if (place.index) stage = later(stage, place.index->stage);
    return make({.node = AddressNode{place.pointer, place.index, place.scale, place.offset},
                 .stage = stage,
                 .show = Show::hex,
                 .span = span});
}

bool Checker::known_here(const Lvalue& place, const Expr& expr) {
    if (!scope_.entry_rule || place.stage == Stage::entry) return true;
    std::string text = source_text(expr.span);
    auto& error = diagnostics_.error(expr.span, quoted(text) + " is not known at entry");
    error.note(quoted(scope_.function) + " may write it before it returns: it is not `const`");
    if (text.starts_with("*")) {
        error.help("remove `entry`, use " + quoted(text.substr(1)) +
                   " without `*`, or declare or cast it as a pointer to const");
    } else {
        error.help("remove `entry`, or declare the parameter as a pointer to const");
    }
    return false;
}

TypedPtr Checker::load(const Lvalue& place, const Expr& expr) {
    if (!known_here(place, expr)) return fail();
    const CType& c = type(place.type);
    Typed node{.stage = place.stage, .span = expr.span};
    if (const auto* array = std::get_if<ArrayType>(&c.kind); array != nullptr && place.pointer) {
        const auto* element = std::get_if<IntType>(&type(array->of).kind);
        TypedPtr where = address(place, expr.span);
        if (element == nullptr || !element->is_char) {
            return &expr == shown_ && is_list(place) ? list(place, expr) : where;
        }
        auto length = static_cast<uint32_t>(std::clamp<uint64_t>(array->count, 2, kMaxText));
        node.node = TextNode{where, length};
        node.show = Show::text;
        return make(std::move(node));
    }
    uint64_t size = size_of(place.type);
    if (place.pointer == nullptr) {
        if (size > 8 || place.bit_width != 0) {
            diagnostics_
                .error(expr.span, quoted(source_text(expr.span)) + " cannot be read by a probe")
                .note("only whole integer fields of a struct passed by value can");
            return fail();
        }
        node.node = StructArgLeaf{place.param, place.offset, static_cast<uint8_t>(size)};
    } else {
        node.node = LoadNode{place.pointer,
                             place.index,
                             place.scale,
                             place.offset,
                             static_cast<uint8_t>(std::min<uint64_t>(size, 8)),
                             place.bit_offset,
                             place.bit_width};
    }
    return typed_leaf(std::move(node), place.type, quoted(source_text(expr.span)), expr.span,
                      false);
}

// A text of any length that is the parameter itself: `__data_loc char[] filename` of a tracepoint.
const TextNode* Checker::unbounded_text(const Typed& value) const {
    const auto* text = std::get_if<TextNode>(&value.node);
    const auto* leaf = text != nullptr ? std::get_if<ParamLeaf>(&text->pointer->node) : nullptr;
    if (leaf == nullptr || text->of_file) return nullptr;
    const auto* array =
        std::get_if<ArrayType>(&type(scope_.signature->params[leaf->index].type).kind);
    return array != nullptr && array->count == 0 ? text : nullptr;
}

TypedPtr Checker::str(const StrExpr& node, const Expr& expr) {
    if (is_out_of_reach(expr, kNoMemory)) return fail();
    TypedPtr pointer = value(*node.pointer);
    if (!pointer || !in_kernel(pointer)) return fail();
    const auto* in_place = unbounded_text(*pointer);
    if (in_place == nullptr && (pointer->is_text() || pointer->show == Show::boolean)) {
        diagnostics_.error(expr.span,
                           quoted(source_text(node.pointer->span)) + " is not a pointer to text");
        return fail();
    }
    if (node.length < 2 || node.length > kMaxText) {
        diagnostics_.error(expr.span, "the length of `str` is from 2 to " +
                                          std::to_string(kMaxText) + " bytes");
        return fail();
    }
    if (in_place != nullptr) {
        return make({.node = TextNode{in_place->pointer, node.length},
                     .stage = pointer->stage,
                     .show = Show::text,
                     .span = expr.span});
    }
    Stage stage = pointer->stage;
    if (pointer->type) {
        const auto* to = std::get_if<PointerType>(&type(*pointer->type).kind);
        if (to != nullptr) stage = read_stage(pointer, to->to_const);
    }
    if (!known_here(Lvalue{.pointer = pointer, .stage = stage}, expr)) return fail();
    return make({.node = TextNode{pointer, node.length},
                 .stage = stage,
                 .show = Show::text,
                 .span = expr.span});
}

// The descriptor is looked up in the kernel, so nothing of the program's memory is read.
TypedPtr Checker::file_name(const FileNameExpr& node, const Expr& expr) {
    if (is_out_of_reach(expr, kNoMemory)) return fail();
    TypedPtr descriptor = value(*node.descriptor);
    if (!descriptor || !in_kernel(descriptor) || !numeric(descriptor, "a file's descriptor")) {
        return fail();
    }
    return make({.node = TextNode{.pointer = descriptor, .of_file = true},
                 .stage = descriptor->stage,
                 .show = Show::text,
                 .span = expr.span});
}

// A mangled name is long, and of a part of it nothing is known.
TypedPtr Checker::demangle(const DemangleExpr& node, const Expr& expr) {
    TypedPtr text = shown(*node.text);
    if (!text) return fail();
    if (!std::holds_alternative<TextNode>(text->node)) {
        diagnostics_
            .error(expr.span, quoted(source_text(node.text->span)) + " is not text that is read")
            .help("`demangle` is for `const char *` parameters and for `str(pointer, N)`");
        return fail();
    }
    Typed name = *text;
    auto& read = std::get<TextNode>(name.node);
    if (!std::holds_alternative<StrExpr>(node.text->node)) {
        read.length = std::max(read.length, kMangledText);
    }
    name.demangle = !scope_.keep_mangled;
    name.span = expr.span;
    return make(std::move(name));
}

const std::string* Checker::table_name(const Expr& object) const {
    const auto* named = std::get_if<NameExpr>(&object.node);
    if (named == nullptr) return nullptr;
    if (scope_.signature != nullptr) {
        for (const Param& param : scope_.signature->params) {
            if (param.name == named->name) return nullptr;
        }
    }
    auto found = std::find(scope_.tables->begin(), scope_.tables->end(), named->name);
    return found == scope_.tables->end() ? nullptr : &*found;
}

TypedPtr Checker::learnt(const std::string& table, const Expr& key_expr, const Expr& expr) {
    TypedPtr key = shown(key_expr);
    if (!key || !numeric(key, "the key of a learnt table")) return fail();
    Typed node{.node = LearntNode{table, key},
               .type = key->type,
               .stage = key->stage,
               .show = key->show,
               .size = key->size,
               .span = expr.span};
    return make(std::move(node));
}

TypedPtr Checker::learnt_part(const LearntPartExpr& node, const Expr& expr) {
    TypedPtr of = value(*node.of);
    if (!of) return fail();
    const char* function = node.part == LearntPart::size ? "size" : "each";
    if (!std::holds_alternative<LearntNode>(of->node)) {
        diagnostics_
            .error(expr.span, quoted(source_text(node.of->span)) + " is not a learnt table's entry")
            .help("write it as `" + std::string(function) + "(table[key])`");
        return fail();
    }
    return learnt_as(of, node.part == LearntPart::size ? LearntAs::size : LearntAs::each);
}

TypedPtr Checker::now(const NowExpr& node, const Expr& expr) {
    bool known = std::ranges::find(*scope_.gauges, node.gauge) != scope_.gauges->end();
    if (!known) {
        auto& error =
            diagnostics_.error(node.gauge_span, "there is no gauge " + quoted(node.gauge));
        if (auto close = closest_name(node.gauge, *scope_.gauges)) {
            error.help("a gauge with a similar name exists: " + quoted(*close));
        }
        return fail();
    }
    TypedPtr group = node.group ? shown(*node.group) : nullptr;
    if (node.group && !group) return fail();
    return make({.node = NowNode{node.gauge, group},
                 .stage = group ? group->stage : Stage::entry,
                 .show = Show::signed_int,
                 .in_tracer = true,
                 .span = expr.span});
}

// The kernel reads memory before the tracer looks up what was learnt.
bool Checker::in_kernel(const TypedPtr& operand) {
    if (!operand->in_tracer) return true;
    diagnostics_
        .error(operand->span, quoted(source_text(operand->span)) + " is known to the tracer only")
        .note("memory is read in the kernel, when the call is made")
        .help("use what the call itself has here");
    return false;
}

TypedPtr make(Typed value) {
    bool learnt = std::holds_alternative<LearntNode>(value.node);
    value.in_tracer |= learnt;
    for_each_operand(value, [&](const TypedPtr& part) { value.in_tracer |= part->in_tracer; });
    return std::make_shared<const Typed>(std::move(value));
}

TypedPtr learnt_as(const TypedPtr& value, LearntAs as) {
    Typed other = *value;
    std::get<LearntNode>(other.node).as = as;
    other.type.reset();
    other.size = 8;
    other.hex_unnamed = false;
    other.show = as == LearntAs::text || as == LearntAs::each ? Show::text : Show::signed_int;
    return make(std::move(other));
}

bool is_name_of_key(const Typed& value) {
    const auto* learnt = std::get_if<LearntNode>(&value.node);
    return learnt != nullptr && learnt->as == LearntAs::shown && !learnt->key->in_tracer;
}

}  // namespace mlbcc::rules
