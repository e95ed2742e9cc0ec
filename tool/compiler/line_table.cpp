#include "compiler/line_table.h"

#include <linux/bpf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace mlbcc::compiler {

namespace {

constexpr std::string_view kSection = ".bpf.fn.";  // libbcc's, one a function

// btf_header and btf_ext_header, as far as they are read.
struct BtfHeader {
    uint16_t magic;
    uint8_t version, flags;
    uint32_t header_size, types, types_size, strings, strings_size;
};
struct ExtHeader {
    uint16_t magic;
    uint8_t version, flags;
    uint32_t header_size, functions, functions_size, lines, lines_size;
};

// Reads on through bytes; what is not there any more is zeros.
class Reader {
public:
    explicit Reader(std::span<const uint8_t> bytes) : rest_(bytes) {}
    bool ended() const { return rest_.empty(); }
    template <typename T> T take() { return as<T>(take(sizeof(T))); }
    std::span<const uint8_t> take(size_t size) {
        auto taken = rest_.first(std::min(size, rest_.size()));
        rest_ = rest_.subspan(taken.size());
        return taken;
    }
    template <typename T> static T as(std::span<const uint8_t> bytes) {
        T value{};
        if (bytes.size() >= sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }

private:
    std::span<const uint8_t> rest_;
};

std::span<const uint8_t> part(std::span<const uint8_t> all, size_t begin, size_t size) {
    if (begin >= all.size()) return {};
    return all.subspan(begin, std::min(size, all.size() - begin));
}

std::string_view string_at(std::span<const uint8_t> strings, uint32_t offset) {
    auto rest = part(strings, offset, strings.size());
    auto end = std::ranges::find(rest, 0);
    return {reinterpret_cast<const char*>(rest.data()), static_cast<size_t>(end - rest.begin())};
}

}  // namespace

LineTable::LineTable(std::span<const uint8_t> btf, std::span<const uint8_t> ext) {
    auto head = Reader::as<BtfHeader>(btf);
    auto strings = part(btf, size_t{head.header_size} + head.strings, head.strings_size);
    auto ext_head = Reader::as<ExtHeader>(ext);
    Reader lines(part(ext, size_t{ext_head.header_size} + ext_head.lines, ext_head.lines_size));
    const auto size = lines.take<uint32_t>();
    if (size < sizeof(bpf_line_info)) return;
    while (!lines.ended()) {
        std::string_view section = string_at(strings, lines.take<uint32_t>());
        auto count = lines.take<uint32_t>();
        if (section.starts_with(kSection)) section.remove_prefix(kSection.size());
        std::vector<Entry>& entries = functions_[std::string(section)];
        for (; count > 0 && !lines.ended(); --count) {
            auto one = Reader::as<bpf_line_info>(lines.take(size));
            entries.push_back({one.insn_off / static_cast<uint32_t>(sizeof(bpf_insn)),
                               BPF_LINE_INFO_LINE_NUM(one.line_col)});
        }
        std::ranges::stable_sort(entries, {}, &Entry::instruction);
    }
}

uint32_t LineTable::line(const std::string& function, uint32_t instruction) const {
    auto found = functions_.find(function);
    if (found == functions_.end()) return 0;
    auto after = std::ranges::upper_bound(found->second, instruction, {}, &Entry::instruction);
    return after == found->second.begin() ? 0 : std::prev(after)->line;
}

}  // namespace mlbcc::compiler
