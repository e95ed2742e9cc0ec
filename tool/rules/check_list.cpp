// Checks arrays that are shown as lists of their elements.
#include <algorithm>

#include "rules/checker.h"

namespace mlbcc::rules {
namespace {

constexpr uint64_t kMaxShown = 16;  // elements, of all dimensions together

}  // namespace

// An array that is the parameter itself, as in a tracepoint's record: what is passed to a function
// has a pointer's type.
std::optional<Lvalue> Checker::array_param(const Typed& value) const {
    const auto* leaf = std::get_if<ParamLeaf>(&value.node);
    if (leaf == nullptr || !value.type) return std::nullopt;
    const auto* array = std::get_if<ArrayType>(&type(*value.type).kind);
    if (array == nullptr || array->count == 0) return std::nullopt;
    return Lvalue{.pointer = std::make_shared<const Typed>(value), .type = *value.type};
}

// Of all dimensions together.
uint64_t Checker::elements_to_show(const Lvalue& place) const {
    uint64_t count = 1;
    TypeId of = place.type;
    while (const auto* array = std::get_if<ArrayType>(&type(of).kind)) {
        count *= std::min(array->count, kMaxShown + 1);
        if (count > kMaxShown) return 0;
        of = array->of;
    }
    const bool is_structure = std::holds_alternative<RecordType>(type(of).kind);
    return is_structure || size_of(of) == 0 || size_of(of) > 8 ? 0 : count;
}

TypedPtr Checker::list(const Lvalue& place, uint64_t count, const Expr& expr) {
    ListNode node;
    const auto& array = std::get<ArrayType>(type(place.type).kind);
    const auto size = static_cast<uint32_t>(size_of(array.of));
    Stage stage = place.stage;
    for (uint32_t i = 0; i < array.count; ++i) {
        Lvalue element = place;
        element.type = array.of;
        element.offset += i * size;
        TypedPtr one = std::holds_alternative<ArrayType>(type(array.of).kind)
                           ? list(element, count / array.count, expr)
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
    const auto place = array_param(*param);
    const uint64_t count = place ? elements_to_show(*place) : 0;
    return count > 0 ? list(*place, count, expr) : param;
}

TypedPtr Checker::whole_param(uint32_t index) {
    TypedPtr value = decay_to_text(param(index, {}, true));
    return value && scope_.lists ? list_of(value, {}) : value;
}

}  // namespace mlbcc::rules
