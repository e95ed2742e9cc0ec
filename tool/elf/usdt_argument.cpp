#include "elf/usdt_argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/trimmed.h"

namespace mlbcc::elf {

namespace {

using Place = decltype(UsdtArgument::place);

// "8", "-0x10": all of the text.
std::optional<int64_t> number(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
    if (is_hex) text.remove_prefix(2);
    uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, value, is_hex ? 16 : 10);
    if (error != std::errc() || after != end || text.empty()) return std::nullopt;
    return static_cast<int64_t>(negative ? 0 - value : value);
}

// Whatever a note says, it is no undefined behaviour.
int64_t sum_of(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t negated(int64_t value) {
    return static_cast<int64_t>(0 - static_cast<uint64_t>(value));
}

// The value that the program would have passed in `size` bytes.
int64_t fitted(int64_t value, uint8_t size, bool is_signed) {
    const int unused = 64 - 8 * size;
    const auto moved = static_cast<uint64_t>(value) << unused;
    return is_signed ? static_cast<int64_t>(moved) >> unused
                     : static_cast<int64_t>(moved >> unused);
}

UsdtUnknown unknown(std::string_view text, std::string_view what) {
    return UsdtUnknown{fmt::format("`{}` is {}", text, what)};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const size_t end = text.find(separator);
        parts.push_back(trimmed(text.substr(0, end)));
        if (end == text.npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::optional<int> numbered(std::string_view text, int first, int last) {
    const auto value = number(text);
    const bool plain = !text.empty() && text.front() >= '0' && text.front() <= '9';
    if (!plain || !value || *value < first || *value > last) return std::nullopt;
    return static_cast<int>(*value);
}

// ---- x86-64

// r10d -> r10, al -> rax. The upper byte of four registers (ah) is no lower part of one.
std::optional<std::string> whole_x86(std::string_view name) {
    constexpr auto kNames = std::to_array<std::array<std::string_view, 4>>({
        {"rax", "eax", "ax", "al"},
        {"rbx", "ebx", "bx", "bl"},
        {"rcx", "ecx", "cx", "cl"},
        {"rdx", "edx", "dx", "dl"},
        {"rsi", "esi", "si", "sil"},
        {"rdi", "edi", "di", "dil"},
        {"rbp", "ebp", "bp", "bpl"},
        {"rsp", "esp", "sp", "spl"},
    });
    for (const auto& row : kNames) {
        if (std::ranges::find(row, name) != row.end()) return std::string(row[0]);
    }
    if (!name.starts_with('r')) return std::nullopt;
    name.remove_prefix(1);
    if (name.ends_with('d') || name.ends_with('w') || name.ends_with('b')) name.remove_suffix(1);
    const auto index = numbered(name, 8, 15);
    return index ? std::optional(fmt::format("r{}", *index)) : std::nullopt;
}

// "16+CheckpointStats", "-8", "8+-24", "": numbers and at most one symbol.
struct Displacement {
    int64_t number = 0;
    std::string_view symbol;
};
std::optional<Displacement> displacement(std::string_view text) {
    Displacement sum;
    while (!text.empty()) {
        const size_t signs = std::min(text.find_first_not_of("+-"), text.size());
        const size_t end = std::min(text.find_first_of("+-", signs), text.size());
        const bool negative = std::ranges::count(text.substr(0, signs), '-') % 2 == 1;
        const std::string_view term = text.substr(signs, end - signs);
        text.remove_prefix(end);
        if (const auto value = number(term)) {
            sum.number = sum_of(sum.number, negative ? negated(*value) : *value);
        } else if (term.empty() || negative || !sum.symbol.empty() ||
                   std::isdigit(static_cast<unsigned char>(term.front())) != 0) {
            return std::nullopt;
        } else {
            sum.symbol = term;
        }
    }
    return sum;
}

// Code that can be loaded anywhere has a symbol's address only as a distance from its own.
Place at_symbol(std::string_view text, const Displacement& moved, const DistanceOf& distance) {
    const auto behind = distance(moved.symbol);
    if (!behind) {
        return unknown(text, fmt::format("at the symbol `{}`, which the file does not have once",
                                         moved.symbol));
    }
    return UsdtMemory{"pc", "", 1, sum_of(*behind, moved.number)};
}

std::optional<std::string> x86_register(std::string_view text) {
    if (!text.starts_with('%')) return std::nullopt;
    return whole_x86(text.substr(1));
}

// "-8(%rbp)", "8(%rax,%rbx,4)", "(,%rbx,8)", "16+CheckpointStats(%rip)", "counter"
Place x86_memory(std::string_view text, const DistanceOf& distance) {
    const size_t open = text.find('(');
    const auto moved = displacement(text.substr(0, open));
    if (!moved || text.starts_with('%')) return unknown(text, "of a form that mlbcc does not know");
    if (open == text.npos && moved->symbol.empty()) return unknown(text, "a fixed address");
    if (open == text.npos) return at_symbol(text, *moved, distance);
    if (!text.ends_with(')')) return unknown(text, "cut off");
    const auto parts = split(text.substr(open + 1, text.size() - open - 2), ',');
    if (parts.size() == 1 && parts[0] == "%rip" && !moved->symbol.empty()) {
        return at_symbol(text, *moved, distance);
    }
    if (!moved->symbol.empty()) return unknown(text, "an element of what is at a fixed address");
    UsdtMemory memory{"", "", 1, moved->number};
    const bool has_base = !parts[0].empty();
    const auto base = x86_register(parts[0]);
    const auto index = parts.size() > 1 ? x86_register(parts[1]) : std::nullopt;
    const auto scale = parts.size() > 2 ? number(parts[2]) : 1;
    const bool right_scale = scale && (*scale == 1 || *scale == 2 || *scale == 4 || *scale == 8);
    if (parts.size() > 3 || (has_base && !base) || (parts.size() > 1 && !index) || !right_scale ||
        (!base && !index)) {
        return unknown(text, "of a form that mlbcc does not know");
    }
    memory.base = base.value_or("");
    memory.index = index.value_or("");
    memory.scale = static_cast<uint8_t>(*scale);
    return memory;
}

Place x86_place(std::string_view text, const DistanceOf& distance) {
    if (text.starts_with('$')) {
        const auto value = number(text.substr(1));
        return value ? Place(UsdtConstant{*value}) : Place(unknown(text, "no number"));
    }
    if (text.starts_with('%') && text.find_first_of(":(") == text.npos) {
        auto name = x86_register(text);
        return name ? Place(UsdtRegister{std::move(*name)})
                    : Place(unknown(text, "no general register"));
    }
    return x86_memory(text, distance);
}

// ---- AArch64

// w3 -> x3
std::optional<std::string> whole_arm(std::string_view name) {
    if (name == "sp" || name == "wsp") return "sp";
    if (name == "fp") return "x29";
    if (name == "lr") return "x30";
    if (!name.starts_with('x') && !name.starts_with('w')) return std::nullopt;
    const auto index = numbered(name.substr(1), 0, 30);
    return index ? std::optional(fmt::format("x{}", *index)) : std::nullopt;
}

std::optional<int64_t> arm_number(std::string_view text) {
    if (text.starts_with('#')) text.remove_prefix(1);
    return number(text);
}

// "lsl 3", "lsl #3": how much an index is multiplied by.
std::optional<uint8_t> arm_scale(std::string_view text) {
    if (!text.starts_with("lsl ")) return std::nullopt;
    const auto shift = arm_number(trimmed(text.substr(4)));
    if (!shift || *shift < 0 || *shift > 3) return std::nullopt;
    return static_cast<uint8_t>(1 << *shift);
}

// "[x0]", "[sp, 12]", "[x0, x1]", "[x0, x1, lsl 3]"
Place arm_memory(std::string_view text) {
    const UsdtUnknown other = unknown(text, "of a form that mlbcc does not know");
    if (!text.ends_with(']')) return other;
    const auto parts = split(text.substr(1, text.size() - 2), ',');
    const auto base = whole_arm(parts[0]);
    if (!base || parts.size() > 3) return other;
    UsdtMemory memory{*base, "", 1, 0};
    if (parts.size() == 1) return memory;
    if (const auto moved = arm_number(parts[1]); moved && parts.size() == 2) {
        memory.displacement = *moved;
        return memory;
    }
    // A 32-bit index is extended, which no field here says.
    const auto index = parts[1].starts_with('x') ? whole_arm(parts[1]) : std::nullopt;
    const auto scale = parts.size() == 3 ? arm_scale(parts[2]) : std::optional<uint8_t>(1);
    if (!index || !scale) return other;
    memory.index = *index;
    memory.scale = *scale;
    return memory;
}

Place arm_place(std::string_view text) {
    if (text.starts_with('[')) return arm_memory(text);
    if (const auto value = arm_number(text)) return UsdtConstant{*value};
    if (text == "xzr" || text == "wzr") return UsdtConstant{0};
    if (auto name = whole_arm(text)) return UsdtRegister{std::move(*name)};
    return unknown(text, "no general register");
}

// ---- all of them

// "8@%rdi", "-4@[sp, 12]": blanks in brackets belong to the argument.
std::string_view next_argument(std::string_view& text) {
    text = trimmed(text);
    int inside = 0;
    size_t end = 0;
    for (; end < text.size(); ++end) {
        const char c = text[end];
        if (c == '[' || c == '(') ++inside;
        if (c == ']' || c == ')') --inside;
        if ((c == ' ' || c == '\t') && inside <= 0) break;
    }
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(end);
    return one;
}

UsdtArgument parse(std::string_view text, std::string_view machine, const DistanceOf& distance) {
    UsdtArgument made{std::string(text), 0, false, UsdtUnknown{}};
    const size_t at = text.find('@');
    if (at == text.npos) {
        made.place = unknown(text, "without a size");
        return made;
    }
    const std::string_view size = text.substr(0, at), place = trimmed(text.substr(at + 1));
    const auto bytes = number(size);
    if (size.ends_with('f')) {
        made.place = unknown(text, "a floating-point value");
        return made;
    }
    made.is_signed = bytes && *bytes < 0;
    const int64_t length = bytes ? made.is_signed ? negated(*bytes) : *bytes : 0;
    if (length != 1 && length != 2 && length != 4 && length != 8) {
        made.place = unknown(size, "no size of an argument");
        return made;
    }
    made.size = static_cast<uint8_t>(length);
    made.place = machine == "x86_64"    ? x86_place(place, distance)
                 : machine == "aarch64" ? arm_place(place)
                                        : Place(unknown(place, "of another machine"));
    if (auto* constant = std::get_if<UsdtConstant>(&made.place)) {
        constant->value = fitted(constant->value, made.size, made.is_signed);
    }
    return made;
}

}  // namespace

std::vector<UsdtArgument> parse_usdt_arguments(std::string_view text, std::string_view machine,
                                               const DistanceOf& distance) {
    std::vector<UsdtArgument> arguments;
    for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
        arguments.push_back(parse(next_argument(text), machine, distance));
    }
    return arguments;
}

}  // namespace mlbcc::elf
