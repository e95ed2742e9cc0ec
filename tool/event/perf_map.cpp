#include "event/perf_map.h"

#include <algorithm>
#include <charconv>

namespace mlbcc::event {
namespace {

bool take_hex(const char*& at, const char* end, uint64_t& value) {
    auto [after, error] = std::from_chars(at, end, value, 16);
    if (error != std::errc() || after == end || *after != ' ') return false;
    at = after + 1;
    return true;
}

}  // namespace

PerfMap::PerfMap(std::string text) : text_(std::move(text)) {
    const char* begin = text_.data();
    const char* end = begin + text_.size();
    for (const char* line = begin; line < end;) {
        const char* line_end = std::find(line, end, '\n');
        Entry entry{};
        const char* at = line;
        if (take_hex(at, line_end, entry.start) && take_hex(at, line_end, entry.size)) {
            entry.name = static_cast<size_t>(at - begin);
            entry.length = static_cast<size_t>(line_end - at);
            entries_.push_back(entry);
        }
        line = line_end == end ? end : line_end + 1;
    }
    std::ranges::reverse(entries_);
    std::ranges::stable_sort(entries_, {}, &Entry::start);
}

std::optional<PerfMap::Hit> PerfMap::find(uint64_t address) const {
    auto after = std::ranges::upper_bound(entries_, address, {}, &Entry::start);
    if (after == entries_.begin()) return std::nullopt;
    uint64_t start = std::prev(after)->start;
    auto first = std::ranges::lower_bound(entries_, start, {}, &Entry::start);
    if (address - first->start >= first->size) return std::nullopt;
    return Hit{std::string_view(text_).substr(first->name, first->length), first->start};
}

}  // namespace mlbcc::event
