#include "event/perf_map.h"

#include <algorithm>
#include <charconv>
#include <queue>

namespace mlbcc::event {
namespace {

// With or without 0x before it, as OpenJDK writes it.
bool take_hex(const char*& at, const char* end, uint64_t& value) {
    const bool has_prefix = end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    if (has_prefix) at += 2;
    auto [after, error] = std::from_chars(at, end, value, 16);
    if (error != std::errc() || after == end || *after != ' ') return false;
    at = after + 1;
    return true;
}

}  // namespace

PerfMap::PerfMap(std::string text) : text_(std::move(text)) {
    read_entries();
    std::ranges::stable_sort(entries_, {}, &Entry::start);
    make_pieces();
}

void PerfMap::read_entries() {
    const char* begin = text_.data();
    const char* end = begin + text_.size();
    for (const char* line = begin; line < end;) {
        const char* line_end = std::find(line, end, '\n');
        Entry entry{};
        uint64_t size = 0;
        const char* at = line;
        if (take_hex(at, line_end, entry.start) && take_hex(at, line_end, size)) {
            entry.end = entry.start + std::min(size, UINT64_MAX - entry.start);
            entry.name = static_cast<size_t>(at - begin);
            const char* last = line_end > at && line_end[-1] == '\r' ? line_end - 1 : line_end;
            entry.length = static_cast<size_t>(last - at);
            entries_.push_back(entry);
        }
        line = line_end == end ? end : line_end + 1;
    }
}

// From the lowest address up, at each the last of the entries that cover it.
void PerfMap::make_pieces() {
    auto is_earlier = [this](size_t a, size_t b) { return entries_[a].name < entries_[b].name; };
    std::priority_queue<size_t, std::vector<size_t>, decltype(is_earlier)> covering(is_earlier);
    uint64_t at = 0;
    for (size_t next = 0; next < entries_.size() || !covering.empty();) {
        if (covering.empty()) at = entries_[next].start;
        while (next < entries_.size() && entries_[next].start == at) covering.push(next++);
        while (!covering.empty() && entries_[covering.top()].end <= at) covering.pop();
        if (covering.empty()) continue;
        uint64_t end = entries_[covering.top()].end;
        if (next < entries_.size()) end = std::min(end, entries_[next].start);
        pieces_.push_back({at, end, covering.top()});
        at = end;
    }
}

std::optional<PerfMap::Hit> PerfMap::find(uint64_t address) const {
    auto after = std::ranges::upper_bound(pieces_, address, {}, &Piece::start);
    if (after == pieces_.begin() || address >= std::prev(after)->end) return std::nullopt;
    const Entry& entry = entries_[std::prev(after)->entry];
    return Hit{std::string_view(text_).substr(entry.name, entry.length), entry.start};
}

}  // namespace mlbcc::event
