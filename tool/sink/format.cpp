#include "sink/format.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace mlbcc::sink {
namespace {

struct Scale {
    double factor;
    const char* name;
};
constexpr Scale kTimes[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}};
constexpr Scale kSizes[] = {{1024.0 * 1024 * 1024 * 1024, " TiB"},
                            {1024.0 * 1024 * 1024, " GiB"},
                            {1024.0 * 1024, " MiB"},
                            {1024.0, " KiB"}};

// The largest unit that gives at least 1 after rounding to `decimals`.
template <size_t N>
const Scale* scale_for(double value, const Scale (&scales)[N], double rounding) {
    for (const Scale& scale : scales) {
        if (value + scale.factor * rounding >= scale.factor) return &scale;
    }
    return nullptr;
}

// 1536.25 -> "1 536", ".25 MiB"
Number split(double value, int decimals, const char* unit) {
    std::string text = fmt::format("{:.{}f}", value, decimals);
    size_t point = text.find('.');
    Number number{grouped(std::stoull(text.substr(0, point))), unit};
    if (point != std::string::npos) number.rest = text.substr(point) + unit;
    return number;
}

std::string three_digits(double value, const char* unit) {
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return split(value, decimals, unit).text();
}

Number bytes_of(uint64_t value) {
    const Scale* scale = scale_for(static_cast<double>(value), kSizes, 0.0);
    if (scale == nullptr) return {std::to_string(value), " B"};
    return split(static_cast<double>(value) / scale->factor, 2, scale->name);
}

Number duration_of(uint64_t ns) {
    const Scale* scale = scale_for(static_cast<double>(ns), kTimes, 0.0);
    if (scale == nullptr) return {std::to_string(ns), " ns"};
    return split(static_cast<double>(ns) / scale->factor, 3, scale->name);
}

std::string plural_of(std::string_view noun) {
    return std::string(noun) + (noun.ends_with("s") ? "es" : "s");
}

}  // namespace

std::string percent(double share) {
    constexpr double kLeast = 0.001;
    if (share > 0 && share < kLeast) return fmt::format("under {} %", kLeast);
    if (share < 10) return fmt::format("{:.2g} %", share);
    return fmt::format("{:.0f} %", share < 100 ? std::min(share, 99.0) : share);
}

std::string percent_of(uint64_t part, uint64_t whole) {
    return percent(100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string grouped(uint64_t value) {
    std::string digits = std::to_string(value);
    if (digits.size() < 5) return digits;
    for (size_t at = digits.size() - 3; at > 0 && at < digits.size();
         at -= std::min<size_t>(at, 3)) {
        digits.insert(at, " ");
    }
    return digits;
}

Number amount(uint64_t value, rules::Unit unit) {
    switch (unit) {
    case rules::Unit::none: return {grouped(value), ""};
    case rules::Unit::bytes: return bytes_of(value);
    case rules::Unit::nanoseconds: return duration_of(value);
    }
    return {};
}

Number amount(int64_t value, rules::Unit unit) {
    if (value >= 0) return amount(static_cast<uint64_t>(value), unit);
    Number number = amount(-static_cast<uint64_t>(value), unit);
    number.whole.insert(0, "-");
    return number;
}

std::string short_duration(uint64_t ns) {
    const Scale* scale = scale_for(static_cast<double>(ns), kTimes, 0.0005);
    if (scale == nullptr) return std::to_string(ns) + " ns";
    return three_digits(static_cast<double>(ns) / scale->factor, scale->name);
}

std::string short_bytes(uint64_t bytes) {
    return short_amount(bytes, rules::Unit::bytes);
}

std::string short_amount(uint64_t value, rules::Unit unit) {
    switch (unit) {
    case rules::Unit::none: break;
    case rules::Unit::nanoseconds: return short_duration(value);
    case rules::Unit::bytes: {
        const Scale* scale = scale_for(static_cast<double>(value), kSizes, 0.0);
        if (scale != nullptr)
            return three_digits(static_cast<double>(value) / scale->factor, scale->name);
    }
    }
    return amount(value, unit).text();
}

std::string short_amount(int64_t value, rules::Unit unit) {
    if (value >= 0) return short_amount(static_cast<uint64_t>(value), unit);
    return "-" + short_amount(-static_cast<uint64_t>(value), unit);
}

Number amount(uint64_t bits, rules::Unit unit, bool is_signed) {
    return is_signed ? amount(static_cast<int64_t>(bits), unit) : amount(bits, unit);
}

std::string short_amount(uint64_t bits, rules::Unit unit, bool is_signed) {
    return is_signed ? short_amount(static_cast<int64_t>(bits), unit) : short_amount(bits, unit);
}

double as_double(uint64_t bits, bool is_signed) {
    return is_signed ? static_cast<double>(static_cast<int64_t>(bits)) : static_cast<double>(bits);
}

uint64_t average(uint64_t sum, uint64_t count, bool is_signed) {
    if (!is_signed) return sum / count;
    return static_cast<uint64_t>(static_cast<int64_t>(sum) / static_cast<int64_t>(count));
}

std::string thread_text(std::string_view comm, uint32_t pid, uint32_t tid) {
    if (pid == tid) return fmt::format("{} {}", comm, pid);
    return fmt::format("{} {}/{}", comm, pid, tid);
}

std::string plural(uint64_t count, std::string_view noun) {
    return fmt::format("{} {}", grouped(count), count == 1 ? std::string(noun) : plural_of(noun));
}

size_t width_of(std::string_view text) {
    return static_cast<size_t>(
        std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string padded(std::string_view text, size_t width) {
    size_t used = width_of(text);
    return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string right_aligned(std::string_view text, size_t width) {
    size_t used = width_of(text);
    return std::string(used < width ? width - used : 0, ' ') + std::string(text);
}

namespace {

// The bytes of the first `characters` of `text`; all where there are fewer.
size_t prefix_bytes(std::string_view text, size_t characters) {
    size_t end = 0;
    for (; end < text.size(); ++end) {
        if ((text[end] & 0xc0) == 0x80) continue;
        if (characters-- == 0) break;
    }
    return end;
}

}  // namespace

std::string shortened(std::string_view text, size_t width) {
    if (width_of(text) <= width || width < 4) return std::string(text);
    return std::string(text.substr(0, prefix_bytes(text, width - 3))) + "...";
}

std::string shortened_within(std::string_view text, size_t width) {
    const size_t characters = width_of(text);
    if (characters <= width || width < 8) return shortened(text, width);
    const size_t kept = width - 3, before = kept / 3;
    return std::string(text.substr(0, prefix_bytes(text, before))) + "..." +
           std::string(text.substr(prefix_bytes(text, characters - (kept - before))));
}

}  // namespace mlbcc::sink
