#include "kernel/kernel_btf.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace mlbcc::kernel {

namespace {

Error no_btf(const std::string& module, const Error& why) {
    if (module.empty()) {
        return Error{fmt::format("the kernel does not describe its types: {}", why.what), why.code,
                     "it has to be built with CONFIG_DEBUG_INFO_BTF"};
    }
    return Error{
        fmt::format("nothing describes the types of the kernel module {}: {}", module, why.what),
        why.code, "it is not loaded, or was built without BTF"};
}

}  // namespace

Result<KernelBtf> KernelBtf::open(const std::string& folder) {
    KernelBtf types;
    types.folder_ = folder;
    if (Result<BtfImage*> vmlinux = types.image(""); !vmlinux) return vmlinux.error();
    return types;
}

Result<BtfImage*> KernelBtf::image(const std::string& module) {
    const auto known = images_.find(module);
    if (known != images_.end()) return known->second.get();
    const std::string path = fmt::format("{}/{}", folder_, module.empty() ? "vmlinux" : module);
    BtfImage* base = module.empty() ? nullptr : images_.at("").get();
    Result<BtfImage> opened = BtfImage::open(path, base);
    if (!opened) return no_btf(module, opened.error());
    auto image = std::make_unique<BtfImage>(std::move(*opened));
    return images_.emplace(module, std::move(image)).first->second.get();
}

Result<KernelBtf::Function> KernelBtf::function(const std::string& module,
                                                const std::string& name) {
    const Result<BtfImage*> found = image(module);
    if (!found) return found.error();
    const auto id = (*found)->find(BTF_KIND_FUNC, name);
    const btf_type* type = id ? (*found)->type(*id) : nullptr;
    const btf_type* proto = type != nullptr ? (*found)->type(type->type) : nullptr;
    if (proto == nullptr || kind_of(*proto) != BTF_KIND_FUNC_PROTO) {
        return Error{
            fmt::format("{} does not describe the function `{}`", (*found)->path(), name), 0, {}};
    }
    return Function{*found, *id, type->type};
}

Result<KernelBtf::Type> KernelBtf::type(const std::string& name, const std::string& module) {
    const auto find = [&](BtfImage& in) -> std::optional<Type> {
        for (const uint32_t kind : {BTF_KIND_STRUCT, BTF_KIND_UNION, BTF_KIND_TYPEDEF}) {
            if (const auto id = in.find(kind, name)) return Type{&in, *id};
        }
        return std::nullopt;
    };
    BtfImage& vmlinux = *images_.at("");
    if (auto found = find(vmlinux)) return *found;
    if (!module.empty()) {
        const Result<BtfImage*> own = image(module);
        if (!own) return own.error();
        if (auto found = find(**own)) return *found;
    }
    return Error{fmt::format("the kernel has no type `{}`", name), 0, {}};
}

Result<KernelField> KernelBtf::field(std::string_view path, const std::string& module) {
    size_t end = path.find('.');
    const Result<Type> record = type(std::string(path.substr(0, end)), module);
    if (!record) return record.error();
    if (end == std::string_view::npos) {
        return Error{fmt::format("`{}` is not a field: write `struct.field`", path), 0, {}};
    }
    const BtfImage& image = *record->image;
    BtfMember place{"", record->id};
    while (end != std::string_view::npos) {
        const std::string_view owner = path.substr(0, end);
        const size_t begin = end + 1;
        end = path.find('.', begin);
        const std::string_view name = path.substr(begin, end == path.npos ? end : end - begin);
        const std::vector<BtfMember> members = members_of(image, place.type);
        const auto inside = std::ranges::find(members, name, &BtfMember::name);
        if (inside == members.end()) {
            return Error{fmt::format("`{}` of the kernel has no field `{}`", owner, name), 0, {}};
        }
        place = {name, inside->type, place.bit + inside->bit, inside->bit_width};
    }
    return field_of(image, place);
}

}  // namespace mlbcc::kernel
