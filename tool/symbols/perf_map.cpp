#include "symbols/perf_map.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace mlbcc::symbols {
namespace {

// Of one piece of code former names are known, and of so many pieces that one entry covers: a map
// may be made to be dear.
constexpr size_t kMostNames = 16, kMostCovered = 64;

// With or without 0x before it, as OpenJDK writes it.
bool take_hex(const char*& at, const char* end, uint64_t& value) {
    const bool has_prefix = end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    if (has_prefix) at += 2;
    auto [after, error] = std::from_chars(at, end, value, 16);
    if (error != std::errc() || after == end || *after != ' ') return false;
    at = after + 1;
    return true;
}

// The last of its lines, as many as may be.
std::string_view newest(std::string_view text) {
    size_t begin = text.size() - (text.ends_with('\n') ? 1 : 0);
    for (size_t lines = 0; lines < PerfMap::kMaxEntries; ++lines) {
        const size_t before = begin == 0 ? text.npos : text.rfind('\n', begin - 1);
        if (before == text.npos) return text;
        begin = before;
    }
    return text.substr(begin + 1);
}

}  // namespace

PerfMap::PerfMap(std::string_view text) {
    add(newest(text), 0);
}

bool PerfMap::add(std::string_view text, uint64_t since_ns) {
    size_t begin = text_.size();
    text_ += text;
    bool renames = false;
    while (begin < text_.size()) {
        const size_t end = std::min(text_.find('\n', begin), text_.size());
        if (auto entry = entry_of(text_.data() + begin, text_.data() + end)) {
            entry->since_ns = since_ns;
            renames |= insert(*entry);
        }
        begin = end + 1;
    }
    return renames;
}

std::optional<PerfMap::Entry> PerfMap::entry_of(const char* line, const char* end) const {
    Entry entry{};
    uint64_t size = 0;
    if (!take_hex(line, end, entry.start) || !take_hex(line, end, size)) return std::nullopt;
    if (line < end && end[-1] == '\r') --end;
    if (line == end || size == 0) return std::nullopt;
    entry.end = entry.start + std::min(size, UINT64_MAX - entry.start);
    entry.name = static_cast<size_t>(line - text_.data());
    entry.length = static_cast<size_t>(end - line);
    return entry;
}

bool PerfMap::insert(const Entry& entry) {
    const auto number = static_cast<uint32_t>(entries_.size());
    entries_.push_back(entry);
    split(entry.start);
    split(entry.end);
    const auto first = pieces_.lower_bound(entry.start), last = pieces_.lower_bound(entry.end);
    bool renames = false;
    size_t covered = 0;
    for (auto at = first; at != last; ++at, ++covered) renames |= rename(at->second, number);
    // What it covers and nothing named before is its own; so is all where no former name is known.
    const auto has_former = [](const auto& piece) { return piece.second.names.size() > 1; };
    if (covered > kMostCovered || std::none_of(first, last, has_former)) {
        pieces_.erase(first, last);
        pieces_.emplace(entry.start, Piece{entry.end, {number}});
        return renames;
    }
    uint64_t at = entry.start;
    for (auto next = first; next != last; at = next->second.end, ++next) {
        if (at < next->first) pieces_.emplace(at, Piece{next->first, {number}});
    }
    if (at < entry.end) pieces_.emplace(at, Piece{entry.end, {number}});
    return renames;
}

// Makes two pieces of the one that `at` lies within.
void PerfMap::split(uint64_t at) {
    const auto after = pieces_.upper_bound(at);
    if (after == pieces_.begin()) return;
    const auto piece = std::prev(after);
    if (piece->first == at || piece->second.end <= at) return;
    pieces_.emplace_hint(after, at, piece->second);
    piece->second.end = at;
}

// True where it had another name, earlier.
bool PerfMap::rename(Piece& piece, uint32_t entry) {
    const Entry& before = entries_[piece.names.back()];
    const Entry& now = entries_[entry];
    if (before.since_ns == now.since_ns) {
        piece.names.back() = entry;
        return false;
    }
    if (piece.names.size() == kMostNames) piece.names.erase(piece.names.begin());
    piece.names.push_back(entry);
    return before.start != now.start || name_of(before) != name_of(now);
}

std::optional<PerfMap::Hit> PerfMap::find(uint64_t address, uint64_t time_ns) const {
    auto after = pieces_.upper_bound(address);
    if (after == pieces_.begin() || address >= std::prev(after)->second.end) return std::nullopt;
    const std::vector<uint32_t>& names = std::prev(after)->second.names;
    const auto is_then = [&](uint32_t one) { return entries_[one].since_ns <= time_ns; };
    const auto then = std::find_if(names.rbegin(), names.rend(), is_then);
    const Entry& entry = entries_[then == names.rend() ? names.front() : *then];
    return Hit{name_of(entry), entry.start};
}

}  // namespace mlbcc::symbols
