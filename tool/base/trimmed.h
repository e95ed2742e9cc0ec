// Text without the spaces, tabs and line ends around it.
#pragma once

#include <string_view>

namespace mlbcc {

inline std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\n";
    const size_t first = text.find_first_not_of(kBlanks);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace mlbcc
