// Numbers as people read them.
//
//   12480 -> "12 480"    524288000 bytes -> "500.00 MiB"    15234000 ns -> "15.234 ms", in short
//   "15.2 ms"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rules/rules.h"

namespace mlbcc::sink {

// A number in two parts, so that a column can be aligned at the decimal point: "500" and ".00 MiB".
struct Number {
    std::string whole, rest;
    std::string text() const { return whole + rest; }
};

// "0.25 %", "45 %"; "99 %" where a little is missing of 100, "under 0.001 %" of next to nothing.
std::string percent(double share);
std::string percent_of(uint64_t part, uint64_t whole);  // whole: not 0
std::string grouped(uint64_t value);  // digits by threes, from five digits on: 1024, 12 480
Number amount(int64_t value, rules::Unit unit);
Number amount(uint64_t value, rules::Unit unit);
std::string short_amount(int64_t value, rules::Unit unit);  // durations and sizes to three digits
std::string short_amount(uint64_t value, rules::Unit unit);
std::string short_duration(uint64_t ns);
std::string short_bytes(uint64_t bytes);
// Likewise, of bits that are two's complement where they may be negative.
Number amount(uint64_t bits, rules::Unit unit, bool is_signed);
std::string short_amount(uint64_t bits, rules::Unit unit, bool is_signed);
double as_double(uint64_t bits, bool is_signed);
uint64_t average(uint64_t sum, uint64_t count, bool is_signed);  // count: not 0

// "python3 70"; of another thread than its process's first "python3 70/72"
std::string thread_text(std::string_view comm, uint32_t pid, uint32_t tid);
std::string plural(uint64_t count, std::string_view noun);  // "1 process", "12 480 events"

// Characters, not bytes, of UTF-8 text.
size_t width_of(std::string_view text);
std::string padded(std::string_view text, size_t width);  // on the right
std::string right_aligned(std::string_view text, size_t width);
std::string shortened(std::string_view text, size_t width);  // "long_na..."
// "/usr/lib/...on/decoder.py": of a path the end says most.
std::string shortened_within(std::string_view text, size_t width);

}  // namespace mlbcc::sink
