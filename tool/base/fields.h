// The fields of a line of text, as in the files of /proc: one after another, and as numbers.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace mlbcc {

// Of the whole text; nullopt if there is anything else in it.
template <class T> std::optional<T> to_number(std::string_view text, int base = 10) {
    T value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// The text up to `separator`, which is taken off as well; all of it where there is none.
inline std::string_view take_until(std::string_view& text, char separator) {
    const size_t end = std::min(text.find(separator), text.size());
    const std::string_view taken = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return taken;
}

}  // namespace mlbcc
