// What C would make of a value's sign.
#include "rules/check.h"

namespace mlbcc::rules {

bool is_signed(const Typed& value, const TypeTable& types) {
    if (value.show == Show::hex) return false;
    if (value.size < 8 || value.show == Show::signed_int || value.show == Show::boolean) {
        return true;
    }
    const auto* e = value.show == Show::enumeration && value.type
                        ? std::get_if<EnumType>(&types[*value.type].kind)
                        : nullptr;
    return e != nullptr && e->is_signed;
}

bool may_be_negative(const Typed& value, const TypeTable& types) {
    const CType* type = value.type ? &types[*value.type] : nullptr;
    if (type != nullptr && value.show == Show::enumeration) {
        const auto* e = std::get_if<EnumType>(&type->kind);
        return e != nullptr && e->is_signed;
    }
    if (type != nullptr && value.show == Show::character) {
        const auto* i = std::get_if<IntType>(&type->kind);
        return i != nullptr && i->is_signed;
    }
    return value.show == Show::signed_int;
}

}  // namespace mlbcc::rules
