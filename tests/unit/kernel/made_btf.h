// BTF that a test makes, type by type: each call gives the id of what it adds.
#pragma once

#include <linux/btf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace mlbcc::kernel {

class MadeBtf {
public:
    // Of a module, whose ids and texts go on where those of the kernel end.
    static MadeBtf of_module(const MadeBtf& kernel) {
        MadeBtf made;
        made.next_id_ = kernel.next_id_;
        made.first_text_ = kernel.texts_.size();
        return made;
    }

    struct Member {
        std::string name;  // "": an anonymous struct, or padding
        uint32_t type = 0;
        uint32_t bit = 0, width = 0;  // width 0: no bit-field
    };

    uint32_t integer(const std::string& name, uint32_t size, uint32_t encoding = 0) {
        return add(BTF_KIND_INT, name, size, 0, {encoding << 24 | size * 8});
    }
    uint32_t pointer(uint32_t to) { return add(BTF_KIND_PTR, "", to); }
    uint32_t constant(uint32_t of) { return add(BTF_KIND_CONST, "", of); }
    uint32_t alias(const std::string& name, uint32_t of) { return add(BTF_KIND_TYPEDEF, name, of); }
    uint32_t array(uint32_t of, uint32_t count) {
        return add(BTF_KIND_ARRAY, "", 0, 0, {of, of, count});
    }
    uint32_t record(uint32_t kind, const std::string& name, uint32_t size,
                    const std::vector<Member>& members) {
        std::vector<uint32_t> words;
        for (const Member& each : members) {
            words.insert(words.end(), {text(each.name), each.type, each.width << 24 | each.bit});
        }
        return add(kind, name, size, members.size(), words, true);
    }
    uint32_t structure(const std::string& name, uint32_t size, const std::vector<Member>& members) {
        return record(BTF_KIND_STRUCT, name, size, members);
    }
    uint32_t enumeration(const std::string& name, bool is_signed,
                         const std::vector<std::pair<std::string, int32_t>>& constants) {
        std::vector<uint32_t> words;
        for (const auto& [constant, value] : constants) {
            words.insert(words.end(), {text(constant), static_cast<uint32_t>(value)});
        }
        return add(BTF_KIND_ENUM, name, 4, constants.size(), words, is_signed);
    }
    // A parameter of type 0 without a name: "...".
    uint32_t prototype(uint32_t ret, const std::vector<Member>& params) {
        std::vector<uint32_t> words;
        for (const Member& each : params) words.insert(words.end(), {text(each.name), each.type});
        return add(BTF_KIND_FUNC_PROTO, "", ret, params.size(), words);
    }
    uint32_t function(const std::string& name, uint32_t proto) {
        return add(BTF_KIND_FUNC, name, proto);
    }
    uint32_t add(uint32_t kind, const std::string& name, uint32_t size_or_type, size_t count = 0,
                 const std::vector<uint32_t>& words = {}, bool flag = false) {
        const uint32_t info = (flag ? 1u << 31 : 0) | kind << 24 | static_cast<uint32_t>(count);
        for (const uint32_t word : {text(name), info, size_or_type}) append(types_, word);
        for (const uint32_t word : words) append(types_, word);
        return next_id_++;
    }
    uint32_t next_id() const { return next_id_; }

    std::string bytes() const {
        btf_header header{};
        header.magic = BTF_MAGIC;
        header.version = BTF_VERSION;
        header.hdr_len = sizeof header;
        header.type_len = static_cast<uint32_t>(types_.size());
        header.str_off = header.type_len;
        header.str_len = static_cast<uint32_t>(texts_.size());
        std::string all(sizeof header, '\0');
        std::memcpy(all.data(), &header, sizeof header);
        return all + types_ + texts_;
    }

private:
    static void append(std::string& to, uint32_t word) {
        to.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
    uint32_t text(const std::string& name) {
        if (name.empty()) return 0;
        const size_t offset = first_text_ + texts_.size();
        texts_ += name + '\0';
        return static_cast<uint32_t>(offset);
    }

    std::string types_, texts_{'\0'};
    uint32_t next_id_ = 1;
    size_t first_text_ = 0;
};

}  // namespace mlbcc::kernel
