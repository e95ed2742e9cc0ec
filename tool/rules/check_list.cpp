// Checks arrays that are shown as lists of their elements.
#include <algorithm>

#include "rules/checker.h"

namespace mlbcc::rules {
namespace {

constexpr uint64_t kMaxShown = 16;  // elements

}  // namespace

// An array that is the parameter itself, as in a tracepoint's record: what is passed to a function
// has a pointer's type.
std::optional<Lvalue> Checker::array_param(const TypedPtr& value) const {
    const auto* leaf = std::get_if<ParamLeaf>(&value->node);
    if (leaf == nullptr || !value->type) return std::nullopt;
    const auto* array = std::get_if<ArrayType>(&type(*value->type).kind);
    if (array == nullptr || array->count == 0) return std::nullopt;
    return Lvalue{.pointer = value, .type = *value->type};
}

// Of few enough elements, in all dimensions together, each of which can be shown.
bool Checker::is_list(const Lvalue& place) const {
    uint64_t count = 1;
    TypeId of = place.type;
    while (const auto* array = std::get_if<ArrayType>(&type(of).kind)) {
        count *= std::min(array->count, kMaxShown + 1);
        if (count > kMaxShown) return false;
        of = array->of;
    }
    const bool is_structure = std::holds_alternative<RecordType>(type(of).kind);
    return count > 0 && !is_structure && size_of(of) > 0 && size_of(of) <= 8;
}

TypedPtr Checker::list(const Lvalue& place, const Expr& expr) {
    ListNode node;
    const auto& array = std::get<ArrayType>(type(place.type).kind);
    const auto size = static_cast<uint32_t>(size_of(array.of));
    Stage stage = place.stage;
    for (uint32_t i = 0; i < array.count; ++i) {
        Lvalue element = place;
        element.type = array.of;
        element.offset += i * size;
        TypedPtr one = std::holds_alternative<ArrayType>(type(array.of).kind)
                           ? list(element, expr)
                           : decay_to_text(load(element, expr));
        if (!one) return fail();
        stage = later(stage, one->stage);
        node.elements.push_back(std::move(one));
    }
    return make({.node = std::move(node),
                 .stage = stage,
                 .show = Show::list,
                 .in_tracer = true,
                 .span = expr.span});
}

// A parameter that is an array is a list where lists may be.
TypedPtr Checker::list_of(const TypedPtr& param, const Expr& expr) {
    const auto place = array_param(param);
    return place && is_list(*place) ? list(*place, expr) : param;
}

TypedPtr Checker::whole_param(uint32_t index) {
    TypedPtr value = decay_to_text(param(index, {}, true));
    return value && scope_.lists ? list_of(value, {}) : value;
}

}  // namespace mlbcc::rules
