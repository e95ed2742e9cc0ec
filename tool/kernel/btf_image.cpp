#include "kernel/btf_image.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <bit>
#include <cstring>
#include <functional>

#include "base/read_file.h"
#include "base/unique_fd.h"

namespace mlbcc::kernel {

namespace {

constexpr size_t kMaxFile = size_t{256} << 20;  // bytes; a kernel's has some 6 MB
constexpr int kMaxScans = 5;                    // before an index of names is worth its time
constexpr int kMaxChain = 64;                   // typedefs of typedefs; a broken file has circles

// Bytes after the head of a type.
std::optional<size_t> size_after(uint32_t kind, size_t count) {
    switch (kind) {
    case BTF_KIND_PTR:
    case BTF_KIND_FWD:
    case BTF_KIND_TYPEDEF:
    case BTF_KIND_VOLATILE:
    case BTF_KIND_CONST:
    case BTF_KIND_RESTRICT:
    case BTF_KIND_FUNC:
    case BTF_KIND_FLOAT:
    case BTF_KIND_TYPE_TAG: return 0;
    case BTF_KIND_INT:
    case BTF_KIND_VAR:
    case BTF_KIND_DECL_TAG: return 4;
    case BTF_KIND_ARRAY: return sizeof(btf_array);
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION: return count * sizeof(btf_member);
    case BTF_KIND_ENUM: return count * sizeof(btf_enum);
    case BTF_KIND_ENUM64: return count * sizeof(btf_enum64);
    case BTF_KIND_FUNC_PROTO: return count * sizeof(btf_param);
    case BTF_KIND_DATASEC: return count * sizeof(btf_var_secinfo);
    default: return std::nullopt;
    }
}

bool is_indexed(uint32_t kind) {
    return kind == BTF_KIND_FUNC || kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION ||
           kind == BTF_KIND_TYPEDEF || kind == BTF_KIND_VAR;
}

bool is_transparent(uint32_t kind) {
    return kind == BTF_KIND_TYPEDEF || kind == BTF_KIND_CONST || kind == BTF_KIND_VOLATILE ||
           kind == BTF_KIND_RESTRICT || kind == BTF_KIND_TYPE_TAG;
}

// What follows the head of a type: find_types() has seen that it is in the file.
template <class T> const T* after(const btf_type& type) {
    return reinterpret_cast<const T*>(&type + 1);
}

template <class T> std::span<const T> all_after(const btf_type& type) {
    return {after<T>(type), BTF_INFO_VLEN(type.info)};
}

}  // namespace

// ---- the file

Result<MappedFile> MappedFile::open(const std::string& path, size_t max_bytes) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return system_error(fmt::format("cannot open {}", path));
    MappedFile file;
    struct stat status {};
    if (fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        static_cast<size_t>(status.st_size) <= max_bytes) {
        file.size_ = static_cast<size_t>(status.st_size);
        void* map = mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
        if (map != MAP_FAILED) {
            file.map_ = map;
            return file;
        }
    }
    Result<std::string> read = read_file(path, max_bytes);
    if (!read) return read.error();
    file.read_ = std::move(*read);
    return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept {
    *this = std::move(other);
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(map_, other.map_);
    std::swap(size_, other.size_);
    std::swap(read_, other.read_);
    return *this;
}

MappedFile::~MappedFile() {
    if (map_ != nullptr) munmap(map_, size_);
}

// ---- its tables

Result<BtfImage> BtfImage::open(const std::string& path, BtfImage* base) {
    Result<MappedFile> file = MappedFile::open(path, kMaxFile);
    if (!file) return file.error();
    BtfImage image;
    image.path_ = path;
    image.file_ = std::move(*file);
    if (base != nullptr) {
        image.base_ = base;
        image.first_id_ = base->end_id();
        image.first_text_ = static_cast<uint32_t>(base->texts_.size());
    }
    if (Result<void> read = image.read_header(); !read) return read.error();
    return image;
}

Error BtfImage::broken(std::string_view why) const {
    return Error{fmt::format("{} is broken: {}", path_, why), 0, {}};
}

Result<void> BtfImage::read_header() {
    const std::string_view bytes = file_.bytes();
    btf_header header{};
    if (bytes.size() < sizeof header) return Error{fmt::format("{} is not BTF", path_), 0, {}};
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.magic != BTF_MAGIC || header.version != BTF_VERSION) {
        return Error{fmt::format("{} is not BTF of this machine", path_), 0, {}};
    }
    const auto section = [&](uint64_t offset, uint64_t size) -> std::string_view {
        offset += header.hdr_len;
        if (offset > bytes.size() || size > bytes.size() - offset) return {};
        return bytes.substr(offset, size);
    };
    types_ = section(header.type_off, header.type_len);
    texts_ = section(header.str_off, header.str_len);
    if (types_.size() != header.type_len || texts_.size() != header.str_len) {
        return broken("it ends too early");
    }
    // The first text of a vmlinux is "": an image without texts is not what a kernel gives.
    if (texts_.empty() || texts_.back() != '\0')
        return broken("its string table is not terminated");
    if (reinterpret_cast<uintptr_t>(types_.data()) % alignof(btf_type) != 0) {
        return broken("its types are not aligned");
    }
    return find_types(types_);
}

Result<void> BtfImage::find_types(std::string_view types) {
    offsets_.reserve(types.size() / 24);
    size_t at = 0;
    while (at < types.size()) {
        if (types.size() - at < sizeof(btf_type)) return broken("its last type is cut off");
        btf_type type;
        std::memcpy(&type, types.data() + at, sizeof type);
        const auto more = size_after(kind_of(type), BTF_INFO_VLEN(type.info));
        if (!more) {
            Error error = broken(fmt::format("kind {} of a type is not known", kind_of(type)));
            error.help = "the kernel is newer than this version of mlbcc knows";
            return error;
        }
        if (types.size() - at - sizeof type < *more) return broken("its last type is cut off");
        offsets_.push_back(static_cast<uint32_t>(at));
        at += sizeof type + *more;
    }
    return {};
}

const btf_type* BtfImage::own(uint32_t index) const {
    return reinterpret_cast<const btf_type*>(types_.data() + offsets_[index]);
}

const btf_type* BtfImage::type(uint32_t id) const {
    if (base_ != nullptr && id < first_id_) return base_->type(id);
    return id == 0 || id >= end_id() ? nullptr : own(id - first_id_);
}

std::string_view BtfImage::text(uint32_t offset) const {
    if (base_ != nullptr && offset < first_text_) return base_->text(offset);
    offset -= first_text_;
    return offset < texts_.size() ? std::string_view(texts_.data() + offset) : std::string_view();
}

uint32_t BtfImage::resolve(uint32_t id) const {
    for (int i = 0; i < kMaxChain; ++i) {
        const btf_type* one = type(id);
        if (one == nullptr || !is_transparent(kind_of(*one))) return id;
        id = one->type;
    }
    return 0;
}

std::span<const btf_member> BtfImage::members(const btf_type& type) const {
    const uint32_t kind = kind_of(type);
    if (kind != BTF_KIND_STRUCT && kind != BTF_KIND_UNION) return {};
    return all_after<btf_member>(type);
}

std::span<const btf_param> BtfImage::params(const btf_type& type) const {
    if (kind_of(type) != BTF_KIND_FUNC_PROTO) return {};
    return all_after<btf_param>(type);
}

std::span<const btf_enum> BtfImage::enumerators(const btf_type& type) const {
    if (kind_of(type) != BTF_KIND_ENUM) return {};
    return all_after<btf_enum>(type);
}

std::span<const btf_enum64> BtfImage::enumerators64(const btf_type& type) const {
    if (kind_of(type) != BTF_KIND_ENUM64) return {};
    return all_after<btf_enum64>(type);
}

const btf_array* BtfImage::array(const btf_type& type) const {
    return kind_of(type) == BTF_KIND_ARRAY ? after<btf_array>(type) : nullptr;
}

uint32_t BtfImage::integer_encoding(const btf_type& type) const {
    return kind_of(type) == BTF_KIND_INT ? BTF_INT_ENCODING(*after<uint32_t>(type)) : 0;
}

// ---- names

std::optional<uint32_t> BtfImage::scan(uint32_t kind, std::string_view name) const {
    for (uint32_t i = 0; i < offsets_.size(); ++i) {
        const btf_type& one = *own(i);
        if (kind_of(one) == kind && this->name(one) == name) return first_id_ + i;
    }
    return std::nullopt;
}

size_t BtfImage::slot_of(uint32_t kind, std::string_view name) const {
    size_t slot = std::hash<std::string_view>{}(name) & (index_.size() - 1);
    while (index_[slot] != 0) {
        const btf_type* known = own(index_[slot] - first_id_);
        if (kind_of(*known) == kind && this->name(*known) == name) break;
        slot = (slot + 1) & (index_.size() - 1);
    }
    return slot;
}

void BtfImage::make_index() {
    size_t count = 0;
    for (uint32_t i = 0; i < offsets_.size(); ++i) count += is_indexed(kind_of(*own(i))) ? 1 : 0;
    index_.assign(std::bit_ceil(count * 2 + 2), 0);
    for (uint32_t i = 0; i < offsets_.size(); ++i) {
        const btf_type& one = *own(i);
        if (!is_indexed(kind_of(one)) || name(one).empty()) continue;
        uint32_t& slot = index_[slot_of(kind_of(one), name(one))];
        if (slot == 0) slot = first_id_ + i;
    }
}

std::optional<uint32_t> BtfImage::find(uint32_t kind, std::string_view name) {
    if (!is_indexed(kind) || name.empty()) return std::nullopt;
    if (index_.empty() && scans_++ < kMaxScans) return scan(kind, name);
    if (index_.empty()) make_index();
    const uint32_t id = index_[slot_of(kind, name)];
    return id == 0 ? std::nullopt : std::optional(id);
}

}  // namespace mlbcc::kernel
