#include "plan/stored_values.h"

namespace mlbcc::plan {
namespace {

constexpr uint32_t kCommBytes = 16;

uint32_t aligned(uint32_t bytes) {
    return (bytes + 7) / 8 * 8;
}

}  // namespace

bool takes_duration(const rules::Typed& value) {
    return rules::any_part(value, [](const rules::Typed& part) {
        const auto* leaf = std::get_if<rules::BuiltinLeaf>(&part.node);
        return leaf != nullptr && leaf->which == rules::Builtin::duration;
    });
}

ValueType value_type(const rules::Typed& value) {
    ValueType type{value.show, value.size, {}, {}, value.unit, value.hex_unnamed, value.demangle};
    if (type.kind == ValueType::Kind::enumeration) type.enum_type = value.type;
    if (rules::is_name_of_key(value)) {
        type.learnt_table = std::get<rules::LearntNode>(value.node).table;
    }
    return type;
}

bool may_be_negative(const ValueType& type, const rules::TypeTable& types) {
    if (type.kind == ValueType::Kind::signed_int) return true;
    const auto* e = type.kind == ValueType::Kind::enumeration && type.enum_type
                        ? std::get_if<rules::EnumType>(&types[*type.enum_type].kind)
                        : nullptr;
    return e != nullptr && e->is_signed;
}

uint32_t stored_size(const rules::Typed& value) {
    if (const auto* text = std::get_if<rules::TextNode>(&value.node)) return aligned(text->length);
    if (const auto* text = std::get_if<rules::TextLeaf>(&value.node)) {
        return aligned(static_cast<uint32_t>(text->text.size()) + 1);
    }
    return value.show == rules::Show::comm ? kCommBytes : 8;
}

}  // namespace mlbcc::plan
