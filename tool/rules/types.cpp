#include "rules/types.h"

#include <algorithm>

namespace mlbcc::rules {

namespace {

// A prototype without parameter names says less than one that has them.
bool names_parameters(const Signature& signature) {
    return std::any_of(signature.params.begin(), signature.params.end(),
                       [](const Param& param) { return !param.name.empty(); });
}

}  // namespace

const Signature* TypeTable::function(std::string_view name) const {
    auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : &found->second;
}

std::optional<TypeTable::Constant> TypeTable::constant(std::string_view name) const {
    auto found = constants_.find(name);
    if (found == constants_.end()) return std::nullopt;
    return found->second;
}

TypeId TypeTable::add(CType type) {
    types_.push_back(std::move(type));
    return static_cast<TypeId>(types_.size() - 1);
}

const Signature* TypeTable::keep(Signature signature) {
    return &kept_.emplace_back(std::move(signature));
}

void TypeTable::add(Signature signature) {
    auto known = functions_.find(signature.name);
    if (known == functions_.end()) {
        std::string name = signature.name;
        functions_.emplace(std::move(name), std::move(signature));
    } else if (names_parameters(signature) || !names_parameters(known->second)) {
        known->second = std::move(signature);
    }
}

void TypeTable::index_constants(TypeId enum_type) {
    const auto* type = std::get_if<EnumType>(&(*this)[enum_type].kind);
    if (type == nullptr) return;
    for (const auto& [name, value] : type->constants) {
        constants_.emplace(name, Constant{value, enum_type});
    }
}

std::vector<std::string> TypeTable::constant_names() const {
    std::vector<std::string> names;
    names.reserve(constants_.size());
    for (const auto& [name, constant] : constants_) names.push_back(name);
    return names;
}

}  // namespace mlbcc::rules
