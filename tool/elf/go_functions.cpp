#include "elf/go_functions.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace mlbcc::elf {

namespace {

constexpr uint32_t kGo116 = 0xfffffffa, kGo118 = 0xfffffff0, kGo120 = 0xfffffff1;
constexpr size_t kMaxFunctions = size_t{1} << 22;
constexpr size_t kHead = 8;  // bytes: the magic number, two of padding, two sizes

template <class T> std::optional<T> value_at(std::string_view table, uint64_t at) {
    T value{};
    if (at > table.size() || table.size() - at < sizeof value) return std::nullopt;
    std::memcpy(&value, table.data() + at, sizeof value);
    return value;
}

class GoTable {
public:
    explicit GoTable(std::string_view table) : table_(table) {}

    std::vector<GoFunction> functions(uint64_t text) {
        std::vector<GoFunction> found;
        if (!read_header(text)) return found;
        for (uint64_t i = 0; i < count_; ++i) {
            const auto begin = entry(i), end = entry(i + 1);
            const auto place = at(i, 1);
            if (!begin || !end || !place || *end < *begin) return found;
            // Its structure: where it begins, and behind that where its name is.
            const auto name = value_at<int32_t>(table_, functions_ + *place + word_);
            if (!name || *name < 0) continue;
            const std::string_view shown = text_at(names_ + static_cast<uint64_t>(*name));
            if (!shown.empty()) found.push_back({shown, text_ + *begin, *end - *begin});
        }
        return found;
    }

private:
    // In the header, words of the pointers' size.
    std::optional<uint64_t> word(size_t index) const {
        return value_at<uint64_t>(table_, kHead + 8 * index);
    }

    bool read_header(uint64_t text) {
        const auto magic = value_at<uint32_t>(table_, 0);
        const auto pointer = value_at<uint8_t>(table_, 7);
        if (!magic || !pointer || *pointer != 8) return false;
        const bool relative = *magic == kGo118 || *magic == kGo120;
        if (!relative && *magic != kGo116) return false;
        word_ = relative ? 4 : 8;
        const size_t first = relative ? 3 : 2;  // of the tables' places
        const auto count = word(0), names = word(first), functions = word(first + 4);
        if (!count || !names || !functions || *count > kMaxFunctions) return false;
        if (*names > table_.size() || *functions > table_.size()) return false;
        count_ = *count;
        names_ = *names;
        functions_ = *functions;
        if (relative) text_ = word(2).value_or(0) != 0 ? *word(2) : text;
        return true;
    }

    // The table of functions: for each where it begins, and where its structure is.
    std::optional<uint64_t> at(uint64_t index, uint64_t column) const {
        const uint64_t place = functions_ + (2 * index + column) * word_;
        if (word_ == 8) return value_at<uint64_t>(table_, place);
        const auto value = value_at<uint32_t>(table_, place);
        return value ? std::optional<uint64_t>(*value) : std::nullopt;
    }
    std::optional<uint64_t> entry(uint64_t index) const { return at(index, 0); }

    std::string_view text_at(uint64_t at) const {
        if (at >= table_.size()) return {};
        const std::string_view rest = table_.substr(at);
        const size_t end = rest.find('\0');
        return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
    }

    std::string_view table_;
    uint64_t word_ = 4, count_ = 0, names_ = 0, functions_ = 0, text_ = 0;
};

}  // namespace

std::vector<GoFunction> go_functions(std::string_view table, uint64_t text) {
    return GoTable(table).functions(text);
}

}  // namespace mlbcc::elf
