#include "kernel/kernel_types.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

#include "kernel/btf_spelling.h"

namespace mlbcc::kernel {

namespace {

using rules::CType;
using rules::RecordType;
using rules::TypeId;

constexpr int kMaxNesting = 200;  // of types in types
constexpr TypeId kUnfinished{~0u};
constexpr uint32_t kOpaque = std::numeric_limits<uint32_t>::max();  // a depth of its own

uint32_t kind_of(const btf_type* type) {
    return type == nullptr ? uint32_t{BTF_KIND_UNKN} : BTF_INFO_KIND(type->info);
}

bool is_record(const btf_type* type) {
    return kind_of(type) == BTF_KIND_STRUCT || kind_of(type) == BTF_KIND_UNION;
}

bool is_union(const btf_type* type) {
    return kind_of(type) == BTF_KIND_UNION ||
           (kind_of(type) == BTF_KIND_FWD && BTF_INFO_KFLAG(type->info) != 0);
}

// Whether what can be reached from a value of the type depends on how far one goes.
bool has_depth(const btf_type* type) {
    return is_record(type) || kind_of(type) == BTF_KIND_PTR || kind_of(type) == BTF_KIND_ARRAY;
}

bool names_address(std::string name) {
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name.ends_with("ptr") || name.ends_with("ptr_t") || name.ends_with("addr_t");
}

// What the names of the typedefs on the way to an integer say of it.
void add_typedef_flags(const BtfImage& image, uint32_t id, CType& type) {
    const uint32_t end = image.resolve(id);
    while (id != end) {
        const btf_type* one = image.type(id);
        if (one == nullptr) return;
        if (kind_of(one) == BTF_KIND_TYPEDEF) {
            const std::string_view name = image.name(*one);
            type.is_byte_count |= name == "size_t" || name == "ssize_t";
            type.is_address |= names_address(std::string(name));
        }
        id = one->type;
    }
}

decltype(CType::kind) integer(const BtfImage& image, const btf_type& type) {
    const uint32_t encoding = image.integer_encoding(type);
    if ((encoding & BTF_INT_BOOL) != 0) return rules::BoolType{};
    return rules::IntType{static_cast<uint8_t>(type.size), (encoding & BTF_INT_SIGNED) != 0,
                          type.size == 1 && image.name(type) == "char"};
}

rules::EnumType enumeration(const BtfImage& image, const btf_type& type) {
    const bool is_signed = BTF_INFO_KFLAG(type.info) != 0;
    rules::EnumType made{static_cast<uint8_t>(type.size), is_signed, {}};
    for (const btf_enum& each : image.enumerators(type)) {
        const auto value = is_signed ? int64_t{each.val} : int64_t{static_cast<uint32_t>(each.val)};
        made.constants.emplace_back(image.text(each.name_off), value);
    }
    for (const btf_enum64& each : image.enumerators64(type)) {
        const auto value = uint64_t{each.val_hi32} << 32 | each.val_lo32;
        made.constants.emplace_back(image.text(each.name_off), static_cast<int64_t>(value));
    }
    return made;
}

bool is_const(const BtfImage& image, uint32_t id) {
    const btf_type* type = image.type(id);
    for (const uint32_t end = image.resolve(id); id != end && type != nullptr;) {
        if (kind_of(type) == BTF_KIND_CONST) return true;
        id = type->type;
        type = image.type(id);
    }
    return false;
}

}  // namespace

TypeId KernelTypes::convert(const BtfImage& image, uint32_t id, uint32_t depth) {
    if (!has_depth(image.type(image.resolve(id)))) depth = 0;
    const Key key{&image.owner(id), id, depth};
    const auto known = known_.find(key);
    if (known != known_.end() && known->second != kUnfinished) return known->second;
    // Only in a broken file does a type contain itself.
    if (known != known_.end() || nesting_ > kMaxNesting) return opaque(image, id);
    known_.emplace(key, kUnfinished);
    ++nesting_;
    CType described = describe(image, id, depth);
    --nesting_;
    const TypeId made = types_.add(std::move(described));
    types_.index_constants(made);
    known_[key] = made;
    return made;
}

CType KernelTypes::describe(const BtfImage& image, uint32_t id, uint32_t depth) {
    CType made{spelling_of(image, id), rules::VoidType{}};
    const uint32_t end = image.resolve(id);
    const btf_type* type = image.type(end);
    switch (kind_of(type)) {
    case BTF_KIND_INT:
        made.kind = integer(image, *type);
        add_typedef_flags(image, id, made);
        break;
    case BTF_KIND_FLOAT: made.kind = rules::FloatType{static_cast<uint8_t>(type->size)}; break;
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64: made.kind = enumeration(image, *type); break;
    case BTF_KIND_PTR: made.kind = pointer(image, type->type, depth); break;
    case BTF_KIND_ARRAY: {
        const btf_array* array = image.array(*type);
        made.kind = rules::ArrayType{convert(image, array->type, depth), array->nelems};
        break;
    }
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION: made.kind = record(image, end, depth); break;
    case BTF_KIND_FWD: made.kind = RecordType{is_union(type), false, 0, {}}; break;
    case BTF_KIND_FUNC_PROTO: made.kind = rules::FunctionType{}; break;
    default: break;  // void, and what is no type of a value
    }
    return made;
}

rules::PointerType KernelTypes::pointer(const BtfImage& image, uint32_t to, uint32_t depth) {
    const bool to_const = is_const(image, to);
    if (!is_record(image.type(image.resolve(to)))) return {convert(image, to, depth), to_const};
    return {depth == 0 ? opaque(image, to) : convert(image, to, depth - 1), to_const};
}

TypeId KernelTypes::opaque(const BtfImage& image, uint32_t id) {
    const Key key{&image.owner(id), id, kOpaque};
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    const bool overlaid = is_union(image.type(image.resolve(id)));
    const TypeId made = types_.add({spelling_of(image, id), RecordType{overlaid, false, 0, {}}});
    known_.emplace(key, made);
    return made;
}

RecordType KernelTypes::record(const BtfImage& image, uint32_t id, uint32_t depth) {
    const btf_type& type = *image.type(id);
    RecordType made{is_union(&type), true, type.size, {}};
    for (const BtfMember& member : members_of(image, id)) {
        const KernelField at = field_of(image, member);
        const bool follows = followed_ == nullptr || followed_->contains(member.name);
        made.fields.push_back({std::string(member.name),
                               convert(image, member.type, follows ? depth : 0), at.offset,
                               at.bit_offset, at.bit_width});
    }
    return made;
}

Result<const rules::Signature*> KernelTypes::signature(const std::string& name,
                                                       const std::string& module) {
    const auto function = btf_.function(module, name);
    if (!function) return function.error();
    const BtfImage& image = *function->image;
    const rules::Signature*& known = signatures_[{&image, function->id}];
    if (known != nullptr) return known;
    const btf_type& proto = *image.type(function->proto);
    rules::Signature made;
    made.name = name;
    made.ret = convert(image, proto.type, depth_);
    for (const btf_param& param : image.params(proto)) {
        if (param.type == 0 && param.name_off == 0) {
            made.variadic = true;
        } else {
            made.params.push_back(
                {std::string(image.text(param.name_off)), convert(image, param.type, depth_)});
        }
    }
    known = types_.keep(std::move(made));
    return known;
}

Result<TypeId> KernelTypes::type(const std::string& name, const std::string& module) {
    const auto found = btf_.type(name, module);
    if (!found) return found.error();
    return convert(*found->image, found->id, depth_);
}

}  // namespace mlbcc::kernel
