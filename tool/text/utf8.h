// How long the characters of UTF-8 text are.
#pragma once

#include <cstddef>
#include <string_view>

namespace mlbcc {

// Of the well-formed sequence that `text` begins with, of 2 to 4 bytes (Unicode 15, table 3-7); 0
// if there is none: overlong forms, surrogates and what is cut short are not well-formed.
inline size_t utf8_length(std::string_view text) {
    const auto byte = [&](size_t i) {
        return static_cast<unsigned char>(i < text.size() ? text[i] : 0);
    };
    const auto follows = [&](size_t i, int low = 0x80, int high = 0xbf) {
        return byte(i) >= low && byte(i) <= high;
    };
    const unsigned char lead = byte(0);
    if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
    if (lead >= 0xe0 && lead <= 0xef) {
        const int low = lead == 0xe0 ? 0xa0 : 0x80, high = lead == 0xed ? 0x9f : 0xbf;
        return follows(1, low, high) && follows(2) ? 3 : 0;
    }
    if (lead >= 0xf0 && lead <= 0xf4) {
        const int low = lead == 0xf0 ? 0x90 : 0x80, high = lead == 0xf4 ? 0x8f : 0xbf;
        return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

}  // namespace mlbcc
