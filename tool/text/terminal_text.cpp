#include "text/terminal_text.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "text/utf8.h"

namespace mlbcc {
namespace {

// Of a sequence of 2 or 3 bytes; 0 of longer ones, which neither steer nor turn.
uint32_t code_of(std::string_view sequence) {
    const auto bits = [&](size_t i) { return static_cast<uint32_t>(sequence[i] & 0x3f); };
    if (sequence.size() == 2) return static_cast<uint32_t>(sequence[0] & 0x1f) << 6 | bits(1);
    if (sequence.size() != 3) return 0;
    return static_cast<uint32_t>(sequence[0] & 0x0f) << 12 | bits(1) << 6 | bits(2);
}

// C1 controls, line and paragraph separators, and what changes the direction of text (Unicode's
// Bidi_Control).
bool is_harmful(uint32_t code) {
    return (code >= 0x80 && code < 0xa0) || code == 0x061c || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

void append_control(std::string& out, char c) {
    switch (c) {
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
}

std::string shown(std::string_view text, bool keeps_lines) {
    std::string out;
    out.reserve(text.size());
    for (size_t i = 0; i < text.size();) {
        const char c = text[i];
        const auto byte = static_cast<unsigned char>(c);
        const size_t length = byte < 0x80 ? 1 : utf8_length(text.substr(i));
        if (length > 1) {
            const std::string_view sequence = text.substr(i, length);
            const uint32_t code = code_of(sequence);
            is_harmful(code) ? out += fmt::format("\\u{:04x}", code) : out += sequence;
        } else if (length == 1 && ((byte >= 0x20 && byte != 0x7f) || (keeps_lines && c == '\n'))) {
            out += c;
        } else {
            append_control(out, c);
        }
        i += std::max<size_t>(length, 1);
    }
    return out;
}

}  // namespace

std::string on_terminal(std::string_view text) {
    return shown(text, false);
}

std::string lines_on_terminal(std::string_view text) {
    return shown(text, true);
}

}  // namespace mlbcc
