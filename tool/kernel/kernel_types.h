// The kernel's own description of a function, as a prototype that rules are checked against:
//
//   FUNC vfs_read -> FUNC_PROTO (PTR -> STRUCT file, ...)
//     ->  ssize_t vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "base/result.h"
#include "kernel/kernel_btf.h"
#include "rules/types.h"

namespace mlbcc::kernel {

class KernelTypes {
public:
    // How many pointers to structs can be followed, from a parameter on: with 1 `file->f_mode`,
    // with 2 `file->f_inode->i_ino`, with 3 one more. What lies further is an opaque record. Each
    // costs: types.h wants a type's fields before the type, so all that can be reached is
    // converted.
    static constexpr uint32_t kDepth = 3;

    KernelTypes(KernelBtf& btf, rules::TypeTable& types, uint32_t depth = kDepth)
        : btf_(btf), types_(types), depth_(depth) {}

    using Names = std::set<std::string, std::less<>>;
    // The same where only fields of these names are followed, or looked into: far, and at no cost.
    KernelTypes(KernelBtf& btf, rules::TypeTable& types, uint32_t depth, const Names& followed)
        : btf_(btf), types_(types), depth_(depth), followed_(&followed) {}

    // Stays in the TypeTable; the same for the same function. `name` without what gcc appends.
    // Without `place`: BTF has none.
    Result<const rules::Signature*> signature(const std::string& name,
                                              const std::string& module = "");

    // A struct or union with what can be reached from it, by its name.
    Result<rules::TypeId> type(const std::string& name, const std::string& module = "");

private:
    using Key = std::tuple<const BtfImage*, uint32_t, uint32_t>;  // owner, id, depth

    rules::TypeId convert(const BtfImage& image, uint32_t id, uint32_t depth);
    rules::CType describe(const BtfImage& image, uint32_t id, uint32_t depth);
    rules::PointerType pointer(const BtfImage& image, uint32_t to, uint32_t depth);
    rules::RecordType record(const BtfImage& image, uint32_t id, uint32_t depth);
    rules::TypeId opaque(const BtfImage& image, uint32_t id);

    KernelBtf& btf_;
    rules::TypeTable& types_;
    uint32_t depth_;
    const Names* followed_ = nullptr;  // null: all
    int nesting_ = 0;
    std::map<Key, rules::TypeId> known_;
    std::map<std::pair<const BtfImage*, uint32_t>, const rules::Signature*> signatures_;
};

}  // namespace mlbcc::kernel
