// Values as JSON text (RFC 8259), appended to a Buffer.
//
//   bytes  say "hi"\n \xff      ->  "say \"hi\"\n \u00ff"      (what is not UTF-8, byte by byte)
//   0x7f0000001000, a pointer   ->  "0x7f0000001000"
//   9007199254740993            ->  "9007199254740993"         (above 2^53: a reader's double is
//   not exact) 999, an enum without it     ->  999
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "event/event.h"
#include "sink/buffer.h"

namespace mlbcc::sink {

void write_text(Buffer& out, std::string_view text);  // with its quotes
void write_value(Buffer& out, const event::Value& value);
void write_unsigned(Buffer& out, uint64_t value);
void write_signed(Buffer& out, int64_t value);

// "[1,2]": each element as `write` writes it.
template <class Range, class Write>
void write_array(Buffer& out, const Range& all, const Write& write) {
    bool is_first = true;
    out.append('[');
    for (const auto& one : all) {
        if (!is_first) out.append(',');
        is_first = false;
        write(out, one);
    }
    out.append(']');
}

std::string quoted(std::string_view text);  // write_text into a string
// A JSON string as it stands between its quotes; any other value whole.
std::string_view without_quotes(std::string_view json);
// Likewise, for people: quotes and backslashes as they are; what is no character is still escaped.
std::string plain_text(std::string_view json);

}  // namespace mlbcc::sink
