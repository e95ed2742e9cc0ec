#include "kernel/struct_text.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "kernel/btf_members.h"

namespace mlbcc::kernel {

namespace {

using Words = std::set<std::string, std::less<>>;

constexpr int kMaxStructNesting = 32;

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Calls visit(word, place behind it).
template <class Visit> void for_each_word(std::string_view text, Visit visit) {
    for (size_t at = 0; at < text.size();) {
        if (!is_word(text[at])) {
            ++at;
            continue;
        }
        size_t end = at;
        while (end < text.size() && is_word(text[end])) ++end;
        visit(text.substr(at, end - at), end);
        at = end;
    }
}

// Of libbcc's <linux/bpf.h>.
bool is_of_bpf(std::string_view name) {
    return name.starts_with("bpf_") || name == "__sk_buff" || name == "xdp_md";
}

class Writer {
public:
    Writer(const BtfImage& image, const Words& words, const Words& own)
        : image_(image), words_(words), own_(own) {}

    void want(uint32_t id) { wanted_.push_back(id); }
    std::string text() {
        while (!wanted_.empty()) {
            const uint32_t id = wanted_.back();
            wanted_.pop_back();
            if (!named_members(id).empty()) define(id, 0);
        }
        return forwards_ + definitions_;
    }

private:
    const btf_type& type(uint32_t id) const { return *image_.type(id); }
    uint32_t kind(uint32_t id) const {
        const btf_type* found = image_.type(id);
        return found == nullptr ? uint32_t{BTF_KIND_UNKN} : BTF_INFO_KIND(found->info);
    }
    bool is_record(uint32_t id) const {
        return kind(id) == BTF_KIND_STRUCT || kind(id) == BTF_KIND_UNION;
    }

    std::vector<BtfMember> named_members(uint32_t id) const {
        std::vector<BtfMember> named;
        for (const BtfMember& one : members_of(image_, id)) {
            if (words_.contains(one.name)) named.push_back(one);
        }
        std::ranges::stable_sort(named, {}, &BtfMember::bit);
        return named;
    }
    uint64_t bits_of(const BtfMember& one) const {
        return one.bit_width != 0 ? one.bit_width : uint64_t{size_of(image_, one.type)} * 8;
    }

    std::string integer(const btf_type& type) const {
        const uint32_t encoding = image_.integer_encoding(type);
        if ((encoding & BTF_INT_BOOL) != 0) return "_Bool";
        if (image_.name(type) == "char") return "char";
        static constexpr std::pair<uint32_t, const char*> kNames[] = {
            {1, "char"}, {2, "short"}, {4, "int"}, {8, "long"}, {16, "__int128"}};
        const char* sign = (encoding & BTF_INT_SIGNED) != 0 ? "signed" : "unsigned";
        for (const auto& [size, name] : kNames) {
            if (size == type.size) return fmt::format("{} {}", sign, name);
        }
        return "char";
    }

    // "struct file *f_op", "unsigned int flags[4]"; `through`: a pointer leads there
    std::string declare(uint32_t id, const std::string& name, bool through, int nesting) {
        id = image_.resolve(id);
        if (nesting > kMaxStructNesting) return "void *" + name;
        switch (kind(id)) {
        case BTF_KIND_PTR: {
            const uint32_t to = image_.resolve(type(id).type);
            const bool plain = kind(to) != BTF_KIND_FUNC_PROTO && kind(to) != BTF_KIND_ARRAY &&
                               (!is_record(to) || !image_.name(type(to)).empty());
            return plain ? declare(to, "*" + name, true, nesting + 1) : "void *" + name;
        }
        case BTF_KIND_ARRAY: {
            const btf_array* array = image_.array(type(id));
            return declare(array->type, fmt::format("{}[{}]", name, array->nelems), through,
                           nesting + 1);
        }
        case BTF_KIND_INT: return integer(type(id)) + " " + name;
        case BTF_KIND_FLOAT: return (type(id).size == 4 ? "float " : "double ") + name;
        case BTF_KIND_ENUM:
        case BTF_KIND_ENUM64:
            return (BTF_INFO_KFLAG(type(id).info) != 0 ? "" : "unsigned ") +
                   std::string(type(id).size == 8 ? "long " : "int ") + name;
        case BTF_KIND_STRUCT:
        case BTF_KIND_UNION: return record(id, name, through, nesting);
        default: return "void " + name;  // of a pointer
        }
    }

    std::string record(uint32_t id, const std::string& name, bool through, int nesting) {
        const std::string called(image_.name(type(id)));
        if (called.empty()) return body(id, "", nesting) + " " + name;
        if (through) {
            forward(id, called);
        } else {
            define(id, nesting);
        }
        return fmt::format("{} {} {}", word(id), called, name);
    }
    const char* word(uint32_t id) const { return kind(id) == BTF_KIND_UNION ? "union" : "struct"; }

    void forward(uint32_t id, const std::string& called) {
        if (!mentioned_.insert(id).second) return;
        forwards_ += fmt::format("{} {};\n", word(id), called);
        wanted_.push_back(id);
    }

    void define(uint32_t id, int nesting) {
        const std::string called(image_.name(type(id)));
        if (own_.contains(called) || is_of_bpf(called) || !defined_.insert(id).second) return;
        const std::string text = body(id, called, nesting + 1);
        definitions_ += text + ";\n";
        for (const BtfMember& one : named_members(id)) {
            if (one.bit_width != 0) continue;
            definitions_ += fmt::format(
                "_Static_assert(__builtin_offsetof({0} {1}, {2}) == {3}, \"{1}.{2}\");\n", word(id),
                called, one.name, one.bit / 8);
        }
    }

    // Room without a name, or with one that nobody uses: unnamed arrays are none of C.
    std::string room(uint64_t from, uint64_t to) {
        std::string text;
        if (from % 8 != 0 && from < to) {
            const uint64_t bits = std::min(to - from, 8 - from % 8);
            text += fmt::format(" unsigned char : {};", bits);
            from += bits;
        }
        if (to - from >= 8) text += fmt::format(" char pad_{}[{}];", pads_++, (to - from) / 8);
        if ((to - from) % 8 != 0) text += fmt::format(" unsigned char : {};", (to - from) % 8);
        return text;
    }
    std::string field(uint64_t from, const BtfMember& one, int nesting) {
        std::string text = room(from, one.bit);  // first: it takes the next number
        text += " " + declare(one.type, std::string(one.name), false, nesting + 1);
        return text + (one.bit_width != 0 ? fmt::format(" : {};", one.bit_width) : ";");
    }

    // Fields one behind the other, or, where some lie over others, each in a structure of its own.
    std::string body(uint32_t id, const std::string& called, int nesting) {
        const std::vector<BtfMember> named = named_members(id);
        const uint64_t size = uint64_t{type(id).size} * 8;
        uint64_t at = 0;
        bool overlaid = kind(id) == BTF_KIND_UNION;
        for (const BtfMember& one : named) {
            overlaid |= one.bit < at;
            at = one.bit + bits_of(one);
        }
        std::string text;
        if (overlaid) {
            for (const BtfMember& one : named) {
                text +=
                    fmt::format(" struct {{{} }} __attribute__((packed));", field(0, one, nesting));
            }
            text += room(0, size);
            if (kind(id) != BTF_KIND_UNION) text = fmt::format(" union {{{} }};", text);
        } else {
            at = 0;
            for (const BtfMember& one : named) {
                text += field(at, one, nesting);
                at = one.bit + bits_of(one);
            }
            text += room(at, std::max(at, size));
        }
        return fmt::format("{}{}{} {{{} }} __attribute__((packed{}))", word(id),
                           called.empty() ? "" : " ", called, text,
                           size % 64 == 0 ? ", aligned(8)" : "");
    }

    const BtfImage& image_;
    const Words& words_;
    const Words& own_;
    std::vector<uint32_t> wanted_;
    std::set<uint32_t> mentioned_, defined_;
    std::string forwards_, definitions_;
    uint32_t pads_ = 0;
};

}  // namespace

std::set<std::string, std::less<>> defined_structs(std::string_view program) {
    std::set<std::string, std::less<>> defined;
    bool behind_struct = false;
    for_each_word(program, [&](std::string_view word, size_t end) {
        const size_t next = program.find_first_not_of(" \t\n", end);
        if (behind_struct && next != std::string_view::npos && program[next] == '{') {
            defined.emplace(word);
        }
        behind_struct = word == "struct" || word == "union";
    });
    return defined;
}

Result<std::string> struct_text(KernelBtf& btf, std::string_view program,
                                const std::set<std::string, std::less<>>& own) {
    Result<BtfImage*> image = btf.image("");
    if (!image) return image.error();
    Words words;
    std::vector<std::pair<uint32_t, std::string>> roots;  // kind, name
    std::string_view before;
    for_each_word(program, [&](std::string_view word, size_t) {
        if (before == "struct") roots.emplace_back(BTF_KIND_STRUCT, word);
        if (before == "union") roots.emplace_back(BTF_KIND_UNION, word);
        words.emplace(word);
        before = word;
    });
    Writer writer(**image, words, own);
    Words seen;
    for (const auto& [kind, name] : roots) {
        if (!seen.insert(name).second || own.contains(name)) continue;
        if (const auto id = (*image)->find(kind, name)) writer.want(*id);
    }
    return writer.text();
}

}  // namespace mlbcc::kernel
