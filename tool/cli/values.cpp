#include "cli/values.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace mlbcc {
namespace {

using Units = std::map<std::string_view, double>;

// A number and a unit behind it; none where it is not above 0, or not a number of these units.
std::optional<double> number_of(const std::string& text, const Units& units, double most) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    const auto unit = units.find(end);
    if (end == text.c_str() || unit == units.end() || !(number > 0)) return std::nullopt;
    const double value = number * unit->second;
    return value > most ? std::nullopt : std::optional(value);
}

std::optional<double> nanoseconds_of(const std::string& text) {
    static const Units kUnits{{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"m", 60e9}};
    return number_of(text, kUnits, 9e18);
}

}  // namespace

void refuse(const std::string& message, const std::string& help) {
    throw CLI::RuntimeError(usage_error(message, help));
}

std::chrono::nanoseconds duration_of(const std::string& text) {
    const std::optional<double> ns = nanoseconds_of(text);
    if (!ns) refuse(fmt::format("`{}` is not a duration", text), "write 5s, 250ms or 2m");
    return std::chrono::nanoseconds(std::llround(*ns));
}

uint64_t moment_of(const std::string& text) {
    const std::optional<double> ns = nanoseconds_of(text);
    if (!ns)
        refuse(fmt::format("`{}` is not a time since the start of the trace", text),
               "write 1.5s, 250ms or 2m");
    return static_cast<uint64_t>(std::llround(*ns));
}

uint64_t size_of(const std::string& text) {
    constexpr double kKilo = 1024, kMega = kKilo * kKilo, kGiga = kMega * kKilo;
    static const Units kUnits{{"", 1},        {"B", 1},       {"k", kKilo},
                              {"K", kKilo},   {"KiB", kKilo}, {"M", kMega},
                              {"MiB", kMega}, {"G", kGiga},   {"GiB", kGiga}};
    const std::optional<double> bytes = number_of(text, kUnits, 4 * kGiga);
    if (!bytes)
        refuse(fmt::format("`{}` is not a size", text), "write 16MiB or 512KiB; at most 4GiB");
    return static_cast<uint64_t>(*bytes);
}

}  // namespace mlbcc
