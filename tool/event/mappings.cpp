#include "event/mappings.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace mlbcc::event {
namespace {

// Takes what stands before `end` (or the rest) off the front of `text`.
std::string_view take(std::string_view& text, char end) {
    size_t at = text.find(end);
    std::string_view word = text.substr(0, at);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
    return word;
}

bool number(std::string_view text, int base, uint64_t& value) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    return error == std::errc() && end == text.data() + text.size();
}

// The kernel writes a newline in a path as \012.
std::string without_escapes(std::string_view path) {
    std::string out;
    for (size_t at; (at = path.find("\\012")) != std::string_view::npos;
         path.remove_prefix(at + 4)) {
        out += path.substr(0, at);
        out += '\n';
    }
    return out += path;
}

std::optional<Mapping> parse_line(std::string_view line) {
    Mapping mapping;
    bool good =
        number(take(line, '-'), 16, mapping.start) && number(take(line, ' '), 16, mapping.end);
    std::string_view rights = take(line, ' ');
    good = good && number(take(line, ' '), 16, mapping.offset);
    mapping.device = take(line, ' ');
    good = good && number(take(line, ' '), 10, mapping.inode);
    if (!good || rights.size() < 3 || rights[2] != 'x') return std::nullopt;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    constexpr std::string_view kDeleted = " (deleted)";
    if (line.ends_with(kDeleted)) {
        line.remove_suffix(kDeleted.size());
        mapping.deleted = true;
    }
    mapping.path = without_escapes(line);
    return mapping;
}

}  // namespace

std::vector<Mapping> parse_maps(std::string_view text) {
    std::vector<Mapping> maps;
    while (!text.empty()) {
        if (auto mapping = parse_line(take(text, '\n'))) maps.push_back(std::move(*mapping));
    }
    std::ranges::sort(maps, {}, &Mapping::start);
    return maps;
}

const Mapping* find_mapping(const std::vector<Mapping>& maps, uint64_t address) {
    auto after = std::ranges::upper_bound(maps, address, {}, &Mapping::start);
    if (after == maps.begin()) return nullptr;
    const Mapping& mapping = *std::prev(after);
    return address < mapping.end ? &mapping : nullptr;
}

Mapping* find_mapping(std::vector<Mapping>& maps, uint64_t address) {
    return const_cast<Mapping*>(find_mapping(std::as_const(maps), address));
}

}  // namespace mlbcc::event
