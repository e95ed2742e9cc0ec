#include "cli/units.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace mlbcc {

std::optional<std::chrono::nanoseconds> parse_duration(const std::string& text) {
    char* end = nullptr;
    double number = std::strtod(text.c_str(), &end);
    double factor = 0;
    std::string unit = end;
    if (unit.empty() || unit == "s") factor = 1e9;
    if (unit == "ms") factor = 1e6;
    if (unit == "us") factor = 1e3;
    if (unit == "m") factor = 60e9;
    if (end == text.c_str() || factor == 0 || !(number > 0) || number * factor > 9e18) return {};
    return std::chrono::nanoseconds(std::llround(number * factor));
}

std::optional<size_t> parse_size(const std::string& text) {
    char* end = nullptr;
    double number = std::strtod(text.c_str(), &end);
    std::string unit = end;
    double factor = 0;
    if (unit.empty() || unit == "B") factor = 1;
    if (unit == "K" || unit == "KiB" || unit == "k") factor = 1024;
    if (unit == "M" || unit == "MiB") factor = 1024.0 * 1024;
    if (unit == "G" || unit == "GiB") factor = 1024.0 * 1024 * 1024;
    if (end == text.c_str() || factor == 0 || !(number > 0)) return {};
    if (number * factor > 4.0 * 1024 * 1024 * 1024) return {};
    return static_cast<size_t>(number * factor);
}

std::optional<uint64_t> parse_sample(const std::string& text) {
    uint64_t one_in = 0;
    if (!text.starts_with("1/")) return {};
    auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), one_in);
    if (error != std::errc() || end != text.data() + text.size() || one_in == 0) return {};
    return one_in;
}

}  // namespace mlbcc
