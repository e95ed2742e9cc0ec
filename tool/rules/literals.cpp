#include "rules/literals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace mlbcc::rules {

namespace {

using Wide = unsigned __int128;

struct UnitRow {
    std::string_view name;
    Unit unit;
    uint64_t scale;
};
constexpr auto kUnits = std::to_array<UnitRow>({
    {"ns", Unit::nanoseconds, 1},
    {"us", Unit::nanoseconds, 1'000},
    {"ms", Unit::nanoseconds, 1'000'000},
    {"s", Unit::nanoseconds, 1'000'000'000},
    {"B", Unit::bytes, 1},
    {"KiB", Unit::bytes, 1ull << 10},
    {"MiB", Unit::bytes, 1ull << 20},
    {"GiB", Unit::bytes, 1ull << 30},
    {"KB", Unit::bytes, 1'000},
    {"MB", Unit::bytes, 1'000'000},
    {"GB", Unit::bytes, 1'000'000'000},
});

const UnitRow* find_unit(std::string_view name) {
    auto row = std::find_if(kUnits.begin(), kUnits.end(),
                            [&](const UnitRow& unit) { return unit.name == name; });
    return row == kUnits.end() ? nullptr : &*row;
}

// ---- numbers

struct NumberText {
    unsigned base = 10;
    std::string_view digits, fraction, suffix;
};

int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

size_t count_digits(std::string_view text, unsigned base) {
    auto is_other = [&](char c) { return digit_value(c) >= static_cast<int>(base); };
    return static_cast<size_t>(std::find_if(text.begin(), text.end(), is_other) - text.begin());
}

// "0x1FKiB": base 16, digits 1F, suffix KiB. "010": base 8. "1.50ms": fraction 5.
NumberText split_number(std::string_view text) {
    NumberText out;
    bool zero = text.size() > 1 && text[0] == '0';
    if (zero && (text[1] == 'x' || text[1] == 'X')) out.base = 16;
    if (zero && (text[1] == 'b' || text[1] == 'B')) out.base = 2;
    if (out.base != 10) text.remove_prefix(2);
    size_t length = count_digits(text, out.base == 2 ? 10 : out.base);
    out.digits = text.substr(0, length);
    text.remove_prefix(length);
    if (out.base == 10 && text.starts_with('.')) {
        size_t end = 1 + count_digits(text.substr(1), 10);
        out.fraction = text.substr(1, end - 1);
        text.remove_prefix(end);
        while (out.fraction.ends_with('0')) out.fraction.remove_suffix(1);
    } else if (out.base == 10 && out.digits.size() > 1 && out.digits[0] == '0') {
        out.base = 8;
    }
    out.suffix = text;
    return out;
}

// Nullopt where it does not fit in 64 bits.
std::optional<uint64_t> value_of(std::string_view digits, unsigned base) {
    uint64_t value = 0;
    for (char c : digits) {
        Wide wide = Wide{value} * base + static_cast<unsigned>(digit_value(c));
        if (wide > UINT64_MAX) return std::nullopt;
        value = static_cast<uint64_t>(wide);
    }
    return value;
}

bool is_c_suffix(std::string_view suffix) {
    return suffix.size() <= 3 && suffix.find_first_not_of("uUlL") == std::string_view::npos;
}

LiteralError unknown_unit(std::string_view suffix) {
    std::vector<std::string> names;
    names.reserve(kUnits.size());
    for (const UnitRow& row : kUnits) names.emplace_back(row.name);
    LiteralError error{fmt::format("`{}` is not a unit", suffix),
                       fmt::format("the units are `{}`", fmt::join(names, "`, `")), ""};
    if (auto closest = closest_name(suffix, names)) {
        error.help = fmt::format("a unit with a similar name exists: `{}`", *closest);
    }
    return error;
}

LiteralError wrong_digit(char digit, unsigned base) {
    if (base == 2) return {fmt::format("`{}` is not a binary digit", digit), "", ""};
    return {fmt::format("`{}` is not an octal digit", digit), "",
            "remove the `0` in front: it makes the number octal"};
}

LiteralError not_whole(std::string_view text, Unit unit) {
    switch (unit) {
    case Unit::none:
        return {fmt::format("`{}` is not a whole number", text), "",
                "give it a unit that makes it whole, such as `1.5ms`"};
    case Unit::nanoseconds:
        return {fmt::format("`{}` is not a whole number of nanoseconds", text), "", ""};
    case Unit::bytes: return {fmt::format("`{}` is not a whole number of bytes", text), "", ""};
    }
    return {};
}

LiteralError too_large(std::string_view text) {
    return {fmt::format("`{}` does not fit in 64 bits", text), "", ""};
}

// 0.fraction * scale, nullopt where that is not whole.
std::optional<uint64_t> scaled_fraction(std::string_view fraction, uint64_t scale) {
    if (fraction.size() > 18) return std::nullopt;  // more than fits, and than anyone writes
    Wide power = 1;
    for (size_t i = 0; i < fraction.size(); ++i) power *= 10;
    Wide product = Wide{*value_of(fraction, 10)} * scale;
    if (product % power != 0) return std::nullopt;
    return static_cast<uint64_t>(product / power);
}

// ---- quotes

struct Escape {
    char letter, meaning;
};
constexpr auto kEscapes = std::to_array<Escape>({{'n', '\n'},
                                                 {'t', '\t'},
                                                 {'r', '\r'},
                                                 {'a', '\a'},
                                                 {'b', '\b'},
                                                 {'f', '\f'},
                                                 {'v', '\v'},
                                                 {'e', '\x1b'},
                                                 {'\\', '\\'},
                                                 {'\'', '\''},
                                                 {'"', '"'},
                                                 {'?', '?'}});

// The value of the digits at the front of `rest`, which they leave; nullopt if none, or above 255.
std::optional<unsigned> take_code(std::string_view& rest, unsigned base, size_t most) {
    size_t length = std::min(count_digits(rest, base), most);
    auto value = value_of(rest.substr(0, length), base);
    rest.remove_prefix(length);
    if (length == 0 || *value > 255) return std::nullopt;
    return static_cast<unsigned>(*value);
}

// `rest` begins behind a backslash: "n...", "x41...", "0...". The escape leaves it.
std::optional<char> take_escape(std::string_view& rest) {
    std::optional<unsigned> code;
    if (rest.starts_with('x')) {
        rest.remove_prefix(1);
        code = take_code(rest, 16, 2);
    } else if (!rest.empty() && count_digits(rest.substr(0, 1), 8) == 1) {
        code = take_code(rest, 8, 3);
    } else {
        for (const Escape& escape : kEscapes) {
            if (!rest.starts_with(escape.letter)) continue;
            rest.remove_prefix(1);
            return escape.meaning;
        }
    }
    if (!code) return std::nullopt;
    return static_cast<char>(*code);
}

LiteralError unknown_escape(std::string_view at_backslash) {
    return {fmt::format("`{}` is not an escape", at_backslash.substr(0, 2)), "",
            "write `\\\\` for a backslash"};
}

}  // namespace

bool is_unit(std::string_view word) {
    return find_unit(word) != nullptr;
}

std::variant<NumberExpr, LiteralError> read_number(std::string_view text) {
    NumberText parts = split_number(text);
    if (parts.digits.empty()) return LiteralError{fmt::format("`{}` has no digits", text), "", ""};
    for (char c : parts.digits) {
        if (digit_value(c) >= static_cast<int>(parts.base)) return wrong_digit(c, parts.base);
    }
    const UnitRow* unit = find_unit(parts.suffix);
    if (unit == nullptr && !is_c_suffix(parts.suffix)) return unknown_unit(parts.suffix);
    uint64_t scale = unit == nullptr ? 1 : unit->scale;
    NumberExpr number{0, unit == nullptr ? Unit::none : unit->unit, parts.base == 16};
    auto whole = value_of(parts.digits, parts.base);
    if (!whole) return too_large(text);
    auto fraction = scaled_fraction(parts.fraction, scale);
    if (!fraction) return not_whole(text, number.unit);
    Wide value = Wide{*whole} * scale + *fraction;
    if (value > UINT64_MAX) return too_large(text);
    number.value = static_cast<uint64_t>(value);
    return number;
}

std::variant<std::string, LiteralError> read_quoted(std::string_view text) {
    bool is_string = text.front() == '"';
    std::string out;
    for (std::string_view rest = text.substr(1, text.size() - 2); !rest.empty();) {
        std::string_view at = rest;
        rest.remove_prefix(1);
        if (at[0] != '\\') {
            out += at[0];
        } else if (auto c = take_escape(rest)) {
            out += *c;
        } else {
            return unknown_escape(at);
        }
    }
    if (is_string && out.find('\0') != std::string::npos) {
        return LiteralError{"a string cannot hold a zero byte", "", ""};
    }
    if (!is_string && out.size() != 1) {
        return LiteralError{fmt::format("`{}` is not one byte", text), "",
                            "write a string in double quotes"};
    }
    return out;
}

}  // namespace mlbcc::rules
