// The text of a number, string or character to its value: `1.5ms` to 1500000 nanoseconds, `0x1F` to
// 31, `"a\n"` to two bytes.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "rules/rules.h"

namespace mlbcc::rules {

struct LiteralError {
    std::string message, note, help;  // the last two may be empty
};

// Digits in C's forms (decimal, 0x, 0b, 0 for octal), a fraction where the unit makes it whole, and
// a unit or C's suffixes (u, l) directly behind. Times are in nanoseconds, sizes in bytes.
std::variant<NumberExpr, LiteralError> read_number(std::string_view text);

// `text` has its quotes. C's escapes; a string holds no zero byte, a character is one byte.
std::variant<std::string, LiteralError> read_quoted(std::string_view text);

// "ms", "KiB", ...
bool is_unit(std::string_view word);

}  // namespace mlbcc::rules
