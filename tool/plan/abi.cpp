#include "plan/abi.h"

#include <algorithm>

namespace mlbcc::plan {
namespace {

using rules::CType;
using rules::RecordType;
using rules::TypeId;
using rules::TypeTable;

constexpr uint32_t registers(Arch arch) {
    return arch == Arch::x86_64 ? 6 : 8;
}
constexpr uint32_t kFloatRegisters = 8;  // xmm0-7, v0-7

uint64_t size_of(const TypeTable& types, TypeId id) {
    const CType& type = types[id];
    if (std::holds_alternative<rules::BoolType>(type.kind)) return 1;
    if (const auto* t = std::get_if<rules::IntType>(&type.kind)) return t->size;
    if (const auto* t = std::get_if<rules::FloatType>(&type.kind)) return t->size;
    if (const auto* t = std::get_if<rules::EnumType>(&type.kind)) return t->size;
    if (const auto* t = std::get_if<RecordType>(&type.kind)) return t->size;
    if (const auto* t = std::get_if<rules::ArrayType>(&type.kind)) {
        return t->count * size_of(types, t->of);
    }
    return 8;
}

// Marks which 64-bit words of a value hold something other than floating point.
void mark_integer_words(const TypeTable& types, TypeId id, uint64_t offset,
                        std::vector<bool>& words) {
    const CType& type = types[id];
    if (const auto* record = std::get_if<RecordType>(&type.kind)) {
        for (const auto& field : record->fields) {
            mark_integer_words(types, field.type, offset + field.offset, words);
        }
    } else if (const auto* array = std::get_if<rules::ArrayType>(&type.kind)) {
        uint64_t size = size_of(types, array->of);
        for (uint64_t i = 0; i < std::min<uint64_t>(array->count, 16); ++i) {
            mark_integer_words(types, array->of, offset + i * size, words);
        }
    } else if (!std::holds_alternative<rules::FloatType>(type.kind)) {
        for (uint64_t at = offset; at < offset + size_of(types, id); at += 8) {
            if (at / 8 < words.size()) words[at / 8] = true;
        }
    }
}

// Bytes. A record's is that of its members: attributes of its own are not known.
uint64_t alignment_of(const TypeTable& types, TypeId id) {
    const CType& type = types[id];
    if (const auto* array = std::get_if<rules::ArrayType>(&type.kind)) {
        return alignment_of(types, array->of);
    }
    const auto* record = std::get_if<RecordType>(&type.kind);
    if (record == nullptr) return std::max<uint64_t>(1, size_of(types, id));
    uint64_t most = 1;
    for (const auto& field : record->fields) {
        most = std::max(most, alignment_of(types, field.type));
    }
    return most;
}

// x86-64 passes a record in memory that has such a member: one that lies where its type does not
// put it (packed), or one of the x87's.
bool has_member_of_memory(const TypeTable& types, TypeId id, uint64_t offset) {
    const CType& type = types[id];
    if (const auto* record = std::get_if<RecordType>(&type.kind)) {
        return std::any_of(
            record->fields.begin(), record->fields.end(), [&](const rules::RecordField& field) {
                return has_member_of_memory(types, field.type, offset + field.offset);
            });
    }
    if (const auto* array = std::get_if<rules::ArrayType>(&type.kind)) {
        return has_member_of_memory(types, array->of, offset);
    }
    const auto* real = std::get_if<rules::FloatType>(&type.kind);
    return (real != nullptr && real->size > 8) || offset % alignment_of(types, id) != 0;
}

// Floating-point members of a value, if it has no others and all are of one size.
struct Floats {
    bool alike = true;
    uint64_t size = 0, count = 0;  // bytes of one; how many
};
Floats floats_of(const TypeTable& types, TypeId id) {
    const CType& type = types[id];
    if (const auto* one = std::get_if<rules::FloatType>(&type.kind)) return {true, one->size, 1};
    Floats all;
    auto add = [&](TypeId part, uint64_t times, bool overlaid) {
        Floats more = floats_of(types, part);
        all.alike &= more.alike && (all.size == 0 || all.size == more.size);
        all.size = more.size;
        all.count = overlaid ? std::max(all.count, more.count) : all.count + more.count * times;
    };
    if (const auto* array = std::get_if<rules::ArrayType>(&type.kind)) {
        add(array->of, array->count, false);
    } else if (const auto* record = std::get_if<RecordType>(&type.kind)) {
        for (const auto& field : record->fields) add(field.type, 1, record->is_union);
    } else {
        all.alike = false;
    }
    return all;
}

class Locator {
public:
    Locator(const TypeTable& types, Arch arch) : types_(types), arch_(arch) {}

    // A struct of more than two words is returned through a pointer that comes as a hidden first
    // argument (x86-64; arm64 has a register of its own for it).
    void reserve_return(TypeId ret) {
        bool hidden =
            std::holds_alternative<RecordType>(types_[ret].kind) && size_of(types_, ret) > 16;
        if (hidden && arch_ == Arch::x86_64) ++next_register_;
    }

    std::vector<ArgSlot> place(TypeId type) {
        uint64_t size = size_of(types_, type);
        Value value{type, static_cast<uint32_t>(std::max<uint64_t>(1, (size + 7) / 8)),
                    alignment_of(types_, type) >= 16,
                    std::holds_alternative<RecordType>(types_[type].kind)};
        return arch_ == Arch::x86_64 ? place_x86(value) : place_arm(value);
    }

private:
    struct Value {
        TypeId type{};
        uint32_t words = 1;
        bool is_even = false;  // aligned to 16 bytes: begins at an even word
        bool is_record = false;
    };

    // Each word goes by its own class, but all of a value in registers or all on the stack.
    std::vector<ArgSlot> place_x86(const Value& value) {
        if (value.words > 2 || has_member_of_memory(types_, value.type, 0)) return on_stack(value);
        std::vector<bool> integer(value.words, false);
        mark_integer_words(types_, value.type, 0, integer);
        auto wanted = static_cast<uint32_t>(std::count(integer.begin(), integer.end(), true));
        auto floats = value.words - wanted;
        if (next_register_ + wanted > registers(arch_) || next_float_ + floats > kFloatRegisters) {
            return on_stack(value);
        }
        std::vector<ArgSlot> slots;
        for (bool is_integer : integer) {
            if (is_integer) {
                slots.push_back({ArgSlot::Kind::reg, next_register_++});
            } else {
                slots.push_back({});
                ++next_float_;
            }
        }
        return slots;
    }

    // One to four floats of one size take a vector register each, anything else of up to two words
    // general registers; a larger struct is copied and its address passed.
    std::vector<ArgSlot> place_arm(const Value& value) {
        Floats floats = floats_of(types_, value.type);
        if (floats.alike && floats.count >= 1 && floats.count <= 4) {
            return in_float_registers(static_cast<uint32_t>(floats.count), value);
        }
        return value.is_record && value.words > 2 ? place_copy(value) : take_register(value);
    }

    std::vector<ArgSlot> place_copy(const Value& value) {
        ArgSlot slot = take_register({value.type, 1, false, false}).front();
        slot.kind =
            slot.kind == ArgSlot::Kind::reg ? ArgSlot::Kind::pointer : ArgSlot::Kind::stack_pointer;
        return std::vector<ArgSlot>(value.words, slot);
    }

    std::vector<ArgSlot> take_register(const Value& value) {
        if (value.is_even) next_register_ += next_register_ % 2;
        if (next_register_ + value.words > registers(arch_)) {
            next_register_ = registers(arch_);
            return on_stack(value);
        }
        std::vector<ArgSlot> slots;
        for (uint32_t i = 0; i < value.words; ++i) {
            slots.push_back({ArgSlot::Kind::reg, next_register_++});
        }
        return slots;
    }

    std::vector<ArgSlot> in_float_registers(uint32_t count, const Value& value) {
        if (next_float_ + count > kFloatRegisters) {
            next_float_ = kFloatRegisters;
            return on_stack(value);
        }
        next_float_ += count;
        return std::vector<ArgSlot>(value.words);
    }

    std::vector<ArgSlot> on_stack(const Value& value) {
        if (value.is_even) next_stack_ += next_stack_ % 2;
        std::vector<ArgSlot> slots;
        for (uint32_t i = 0; i < value.words; ++i) {
            slots.push_back({ArgSlot::Kind::stack, next_stack_++});
        }
        return slots;
    }

    const TypeTable& types_;
    Arch arch_;
    uint32_t next_register_ = 0, next_float_ = 0, next_stack_ = 0;
};

}  // namespace

ArgSlots locate_arguments(const rules::Signature& signature, const TypeTable& types, Arch arch) {
    Locator locator(types, arch);
    locator.reserve_return(signature.ret);
    ArgSlots slots;
    for (const rules::Param& param : signature.params) slots.push_back(locator.place(param.type));
    return slots;
}

ArgSlot locate_argument(uint32_t index, Arch arch) {
    if (index < registers(arch)) return {ArgSlot::Kind::reg, index};
    return {ArgSlot::Kind::stack, index - registers(arch)};
}

uint32_t argument_registers(Arch arch) {
    return arch == Arch::x86_64 ? 6 : 8;
}

uint32_t word_index(const ArgSlot& slot, Arch arch) {
    bool on_stack = slot.kind == ArgSlot::Kind::stack || slot.kind == ArgSlot::Kind::stack_pointer;
    return on_stack ? argument_registers(arch) + slot.index : slot.index;
}

std::string to_text(const ArgSlot& slot) {
    switch (slot.kind) {
    case ArgSlot::Kind::none: return "-";
    case ArgSlot::Kind::reg: return "r" + std::to_string(slot.index);
    case ArgSlot::Kind::stack: return "s" + std::to_string(slot.index);
    case ArgSlot::Kind::pointer: return "p" + std::to_string(slot.index);
    case ArgSlot::Kind::stack_pointer: return "ps" + std::to_string(slot.index);
    }
    return "";
}

}  // namespace mlbcc::plan
