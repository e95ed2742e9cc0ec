// C types as a tracer needs them: sizes, offsets, names of enum constants. A TypeTable is what
// libclang says of the headers and declarations of a rule file (ctypes.cpp reads its JSON form).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "text/diagnostic.h"

namespace mlbcc::rules {

enum class TypeId : uint32_t {};

struct VoidType {};
struct BoolType {};
struct IntType {
    uint8_t size = 4;  // bytes
    bool is_signed = true;
    bool is_char = false;
};
struct FloatType {
    uint8_t size = 8;
};
struct EnumType {
    uint8_t size = 4;
    bool is_signed = false;
    std::vector<std::pair<std::string, int64_t>> constants;
};
struct PointerType {
    TypeId to{};
    bool to_const = false;  // const T *
};
struct ArrayType {
    TypeId of{};
    uint64_t count = 0;
};
struct RecordField {
    std::string name;
    TypeId type{};
    uint32_t offset = 0;     // bytes
    uint8_t bit_offset = 0;  // within the storage unit at `offset`, for bit-fields
    uint8_t bit_width = 0;   // 0: not a bit-field
};
struct RecordType {  // struct or union; anonymous members are flattened into `fields`
    bool is_union = false;
    bool complete = false;  // false: opaque, a handle points at it
    uint32_t size = 0;
    std::vector<RecordField> fields;
};
struct FunctionType {};

struct CType {
    std::string spelling;  // as written: "CUdeviceptr", "const char *", "struct model *"
    std::variant<VoidType, BoolType, IntType, FloatType, EnumType, PointerType, ArrayType,
                 RecordType, FunctionType>
        kind;
    // An integer that holds an address or a handle: its typedef's name ends in `ptr` (CUdeviceptr,
    // uintptr_t). It prints in hexadecimal.
    bool is_address = false;
    // The typedef is size_t or ssize_t: what is counted is bytes.
    bool is_byte_count = false;
    bool is_nanoseconds = false;  // a field of our own that holds a time
};

struct Param {
    std::string name;  // "" where the prototype gives none
    TypeId type{};
};

struct Signature {
    std::string name;
    TypeId ret{};
    std::vector<Param> params;
    bool variadic = false;
    Place place;
};

class TypeTable {
public:
    const CType& operator[](TypeId id) const { return types_[static_cast<uint32_t>(id)]; }
    const Signature* function(std::string_view name) const;
    const std::map<std::string, Signature, std::less<>>& functions() const { return functions_; }
    // The value and the type of an enum constant, e.g. CUDA_SUCCESS.
    struct Constant {
        int64_t value;
        TypeId type;
    };
    std::optional<Constant> constant(std::string_view name) const;

    size_t size() const { return types_.size(); }

    TypeId add(CType type);
    void add(Signature signature);
    // One that no C declaration gives, and that function() does not find. It stays where it is.
    const Signature* keep(Signature signature);
    void index_constants(TypeId enum_type);
    std::vector<std::string> constant_names() const;

    // `struct task_struct *` of the running kernel, or why nothing is known of it.
    const Result<TypeId>& task() const { return task_; }
    void set_task(Result<TypeId> task) { task_ = std::move(task); }

private:
    std::vector<CType> types_;
    std::map<std::string, Signature, std::less<>> functions_;
    std::deque<Signature> kept_;
    std::map<std::string, Constant, std::less<>> constants_;
    Result<TypeId> task_ = Error{"the kernel's structures have not been looked at", 0, {}};
};

}  // namespace mlbcc::rules
