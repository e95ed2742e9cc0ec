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

// From the end, where the newest are.
void PerfMap::read_entries() {
    const std::string_view text = text_;
    for (size_t end = text.size(); end > 0 && entries_.size() < kMaxEntries;) {
        const size_t before = text.rfind('\n', end - 1);
        const size_t begin = before == text.npos ? 0 : before + 1;
        read_line(text.data() + begin, text.data() + end);
        end = begin == 0 ? 0 : begin - 1;
    }
}

void PerfMap::read_line(const char* line, const char* end) {
    Entry entry{};
    uint64_t size = 0;
    if (!take_hex(line, end, entry.start) || !take_hex(line, end, size)) return;
    if (line < end && end[-1] == '\r') --end;
    if (line == end) return;
    entry.end = entry.start + std::min(size, UINT64_MAX - entry.start);
    entry.name = static_cast<size_t>(line - text_.data());
    entry.length = static_cast<size_t>(end - line);
    entries_.push_back(entry);
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
