// The types of a BTF file by id and by name, read with every offset and size checked against the
// file. The layout is that of Documentation/bpf/btf.rst in the kernel's source.
//
//   /sys/kernel/btf/vmlinux  ->  1: INT "unsigned long", 2: PTR -> 1, ..., 119848: FUNC "vfs_read"
#pragma once

#include <linux/btf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace mlbcc::kernel {

// Where kernel and file allow it (BTF of vmlinux: Linux 6.16) the file is not even read.
class MappedFile {
public:
    static Result<MappedFile> open(const std::string& path, size_t max_bytes);
    MappedFile() = default;
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    ~MappedFile();

    std::string_view bytes() const {
        return map_ == nullptr ? read_ : std::string_view(static_cast<const char*>(map_), size_);
    }

private:
    void* map_ = nullptr;
    size_t size_ = 0;
    std::string read_;  // where it cannot be mapped
};

inline uint32_t kind_of(const btf_type& type) {
    return BTF_INFO_KIND(type.info);
}

class BtfImage {
public:
    // `base` is vmlinux's, where the file is that of a module; it must outlive this and stay where
    // it is. Errors: cannot be opened, is no BTF, is cut off or has a kind of type that is not
    // known.
    static Result<BtfImage> open(const std::string& path, BtfImage* base = nullptr);

    const std::string& path() const { return path_; }
    uint32_t end_id() const { return first_id_ + static_cast<uint32_t>(offsets_.size()); }
    // Whose type an id is: this, or the base.
    const BtfImage& owner(uint32_t id) const {
        return base_ != nullptr && id < first_id_ ? *base_ : *this;
    }

    // Null for void (id 0) and for what is no id.
    const btf_type* type(uint32_t id) const;
    std::string_view text(uint32_t offset) const;  // "" where there is none
    std::string_view name(const btf_type& type) const { return text(type.name_off); }
    // Typedefs, const, volatile, restrict and tags taken off.
    uint32_t resolve(uint32_t id) const;

    // What follows a type. Empty, or null, if it is of another kind.
    std::span<const btf_member> members(const btf_type& type) const;
    std::span<const btf_param> params(const btf_type& type) const;
    std::span<const btf_enum> enumerators(const btf_type& type) const;
    std::span<const btf_enum64> enumerators64(const btf_type& type) const;
    const btf_array* array(const btf_type& type) const;
    uint32_t integer_encoding(const btf_type& type) const;  // BTF_INT_SIGNED, ...; 0 if none

    // The first type of its own with that kind (FUNC, STRUCT, UNION, TYPEDEF or VAR) and name. The
    // first few calls look through all types, 0.5 ms of 126 000; then an index of names is made, 5
    // ms.
    std::optional<uint32_t> find(uint32_t kind, std::string_view name);

private:
    BtfImage() = default;
    Result<void> read_header();
    Result<void> find_types(std::string_view types);
    std::optional<uint32_t> scan(uint32_t kind, std::string_view name) const;
    void make_index();
    const btf_type* own(uint32_t index) const;
    size_t slot_of(uint32_t kind, std::string_view name) const;
    Error broken(std::string_view why) const;

    std::string path_;
    MappedFile file_;
    BtfImage* base_ = nullptr;
    uint32_t first_id_ = 1, first_text_ = 0;
    std::string_view types_, texts_;  // in the file; texts_ ends in a NUL
    std::vector<uint32_t> offsets_;   // in types_, by id
    std::vector<uint32_t> index_;     // ids by the hash of their name, 0: free
    int scans_ = 0;
};

}  // namespace mlbcc::kernel
