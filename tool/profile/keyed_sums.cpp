#include "profile/keyed_sums.h"

#include <charconv>
#include <optional>

namespace mlbcc::profile {
namespace {

std::optional<std::vector<uint64_t>> key_of(const sink::Group& by,
                                            const std::vector<std::string_view>& names) {
    std::vector<uint64_t> key;
    for (std::string_view name : names) {
        std::string text = key_text(by, name);
        uint64_t number = 0;
        auto read = std::from_chars(text.data(), text.data() + text.size(), number);
        if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return {};
        key.push_back(number);
    }
    return key;
}

}  // namespace

std::string key_text(const sink::Group& by, std::string_view name) {
    for (const auto& [known, json] : by) {
        if (known != name) continue;
        bool is_text = json.size() >= 2 && json.front() == '"';
        return is_text ? json.substr(1, json.size() - 2) : json;
    }
    return {};
}

SumsByKey sums_of(const sink::MetricSnapshot& metrics, std::string_view label,
                  const std::vector<std::string_view>& keys) {
    SumsByKey sums;
    for (const sink::Stat& stat : metrics.stats) {
        if (stat.label != label) continue;
        auto key = key_of(stat.by, keys);
        if (!key) continue;
        KeyedSum& sum = sums[*key];
        sum.value += stat.value;
        sum.calls += stat.calls;
    }
    return sums;
}

}  // namespace mlbcc::profile
