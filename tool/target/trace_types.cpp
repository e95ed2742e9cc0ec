#include "target/trace_types.h"

#include <cerrno>
#include <cstring>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace mlbcc::target {
namespace {

using rules::CType;
using rules::TypeId;
using rules::TypeTable;

struct Scalar {
    std::string_view name;
    uint8_t size;  // bytes
    bool is_signed;
    bool is_byte_count = false;
};
// Types of parameters of system calls (include/linux/syscalls.h, Linux 6.18); any other is 8 bytes.
constexpr auto kScalars = std::to_array<Scalar>({
    {"int", 4, true},
    {"unsigned int", 4, false},
    {"unsigned", 4, false},
    {"long", 8, true},
    {"unsigned long", 8, false},
    {"size_t", 8, false, true},
    {"compat_size_t", 4, false, true},
    {"off_t", 8, true},
    {"loff_t", 8, true},
    {"umode_t", 2, false},
    {"pid_t", 4, true},
    {"uid_t", 4, false},
    {"gid_t", 4, false},
    {"qid_t", 4, false},
    {"u32", 4, false},
    {"__u32", 4, false},
    {"uint32_t", 4, false},
    {"u64", 8, false},
    {"__u64", 8, false},
    {"__s32", 4, true},
    {"s32", 4, true},
    {"key_serial_t", 4, true},
    {"key_t", 4, true},
    {"mqd_t", 4, true},
    {"timer_t", 4, true},
    {"clockid_t", 4, true},
    {"const clockid_t", 4, true},
    {"rwf_t", 4, true},
    {"char", 1, true},
    {"bool", 1, false},
});

TypeId add_number(std::string spelling, uint8_t size, bool is_signed, bool is_bytes,
                  TypeTable& types) {
    CType type{std::move(spelling), rules::IntType{size, is_signed, false}};
    type.is_byte_count = is_bytes;
    return types.add(std::move(type));
}

TypeId add_character(TypeTable& types) {
    return types.add({"char", rules::IntType{1, true, true}});
}

TypeId add_pointer(const TraceField& field, TypeTable& types) {
    std::string_view to = field.type;
    to.remove_suffix(1);
    while (to.ends_with(' ')) to.remove_suffix(1);
    bool is_const = to.starts_with("const ");
    bool is_text = to == "const char" || to == "char const";
    TypeId target =
        is_text ? add_character(types) : types.add({std::string(to), rules::VoidType{}});
    return types.add({field.type, rules::PointerType{target, is_const}});
}

// "char[16]" -> 16
std::optional<uint64_t> array_length(std::string_view type) {
    size_t open = type.rfind('[');
    if (open == std::string_view::npos || !type.ends_with(']')) return std::nullopt;
    uint64_t length = 0;
    for (char c : type.substr(open + 1, type.size() - open - 2)) {
        if (c < '0' || c > '9') return 0;
        length = length * 10 + static_cast<uint64_t>(c - '0');
    }
    return length;
}

}  // namespace

TypeId syscall_parameter(const TraceField& field, TypeTable& types) {
    if (field.type.ends_with('*')) return add_pointer(field, types);
    auto known = std::ranges::find(kScalars, field.type, &Scalar::name);
    if (known == kScalars.end()) return add_number(field.type, 8, false, false, types);
    return add_number(field.type, known->size, known->is_signed, known->is_byte_count, types);
}

TypeId trace_field(const TraceField& field, TypeTable& types) {
    if (auto length = array_length(field.type)) {
        bool is_text = field.type.starts_with("char[") || field.type.starts_with("__data_loc char");
        TypeId of =
            is_text ? add_character(types)
                    : add_number("", static_cast<uint8_t>(*length == 0 ? 1 : field.size / *length),
                                 field.is_signed, false, types);
        return types.add({field.type, rules::ArrayType{of, *length}});
    }
    if (field.type.ends_with('*')) return add_pointer(field, types);
    // Those of system calls have 8 bytes each, whatever their type.
    auto known = std::ranges::find(kScalars, field.type, &Scalar::name);
    if (known != kScalars.end() && known->size < field.size) return syscall_parameter(field, types);
    if (field.type == "bool") return types.add({field.type, rules::BoolType{}});
    return add_number(field.type, static_cast<uint8_t>(std::min<uint32_t>(field.size, 16)),
                      field.is_signed, field.type == "size_t", types);
}

TypeId syscall_result(TypeTable& types) {
    constexpr int kErrors = 134;
    rules::EnumType errors{4, true, {}}, results{8, true, {}};
    for (int code = 1; code < kErrors; ++code) {
        const char* name = strerrorname_np(code);
        if (name == nullptr) continue;
        errors.constants.emplace_back(name, code);
        results.constants.emplace_back(std::string("-") + name, -code);
    }
    // What a signal leaves behind; the program sees another result, or the call goes on.
    constexpr std::pair<const char*, int> kRestarts[] = {{"-ERESTARTSYS", -512},
                                                         {"-ERESTARTNOINTR", -513},
                                                         {"-ERESTARTNOHAND", -514},
                                                         {"-ERESTART_RESTARTBLOCK", -516}};
    for (const auto& [name, value] : kRestarts) results.constants.emplace_back(name, value);
    types.index_constants(types.add({"int", std::move(errors)}));
    return types.add({"long", std::move(results)});
}

}  // namespace mlbcc::target
