#include "kernel/btf_members.h"

#include <string>

namespace mlbcc::kernel {

namespace {

constexpr uint32_t kPointer = 8;          // bytes: only 64-bit kernels are traced
constexpr int kMaxMemberNesting = 32;     // of anonymous structs, of arrays
constexpr size_t kMaxMembers = 1u << 16;  // of a broken file's structs that contain themselves

struct Walk {
    const BtfImage& image;
    std::vector<BtfMember> found;
    size_t seen = 0;

    void enter(uint32_t record, uint64_t base, int nesting) {
        const btf_type* type = image.type(image.resolve(record));
        if (type == nullptr || nesting > kMaxMemberNesting) return;
        const bool has_widths = BTF_INFO_KFLAG(type->info) != 0;
        for (const btf_member& each : image.members(*type)) {
            if (++seen > kMaxMembers) return;
            const uint64_t bit =
                base + (has_widths ? BTF_MEMBER_BIT_OFFSET(each.offset) : each.offset);
            const uint32_t width = has_widths ? BTF_MEMBER_BITFIELD_SIZE(each.offset) : 0;
            const std::string_view name = image.text(each.name_off);
            if (name.empty()) {
                enter(each.type, bit, nesting + 1);
            } else {
                found.push_back({name, each.type, bit, width});
            }
        }
    }
};

uint32_t size_of(const BtfImage& image, uint32_t id, int nesting) {
    const btf_type* type = image.type(image.resolve(id));
    if (type == nullptr || nesting > kMaxMemberNesting) return 0;
    switch (kind_of(*type)) {
    case BTF_KIND_PTR: return kPointer;
    case BTF_KIND_ARRAY: {
        const btf_array* array = image.array(*type);
        return array->nelems * size_of(image, array->type, nesting + 1);
    }
    case BTF_KIND_INT:
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64:
    case BTF_KIND_FLOAT: return type->size;
    default: return 0;
    }
}

}  // namespace

std::vector<BtfMember> members_of(const BtfImage& image, uint32_t record) {
    Walk walk{image, {}};
    walk.enter(record, 0, 0);
    return std::move(walk.found);
}

KernelField field_of(const BtfImage& image, const BtfMember& member) {
    KernelField field;
    field.size = size_of(image, member.type);
    const uint64_t unit = uint64_t{field.size} * 8;
    if (member.bit_width == 0 || unit == 0) {
        field.offset = static_cast<uint32_t>(member.bit / 8);
        return field;
    }
    const uint64_t last = member.bit + member.bit_width - 1;
    const bool straddles = member.bit / unit != last / unit;
    const uint64_t start = straddles ? member.bit / 8 * 8 : member.bit / unit * unit;
    field.offset = static_cast<uint32_t>(start / 8);
    field.bit_offset = static_cast<uint8_t>(member.bit - start);
    field.bit_width = static_cast<uint8_t>(member.bit_width);
    return field;
}

uint32_t size_of(const BtfImage& image, uint32_t id) {
    return size_of(image, id, 0);
}

}  // namespace mlbcc::kernel
