#include "profile/system_calls.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "profile/keyed_sums.h"

namespace mlbcc::profile {
namespace {

template <class T> void sort_by_time(std::vector<T>& uses, std::string T::*name) {
    std::ranges::sort(uses, [name](const T& a, const T& b) {
        return std::tie(b.time_ns, b.calls, a.*name) < std::tie(a.time_ns, a.calls, b.*name);
    });
}

}  // namespace

void add_category(CallReport& report, CategoryUse use) {
    report.calls += use.calls;
    report.time_ns += use.time_ns;
    report.errors += use.errors;
    report.categories.push_back(std::move(use));
}

void sort_categories(CallReport& report) {
    sort_by_time(report.categories, &CategoryUse::category);
}

CallReport call_report(const sink::MetricSnapshot& metrics, CallsOf what) {
    std::map<std::string, CallUse> uses;
    std::map<std::string, CategoryUse> categories;
    CallReport report;
    for (const sink::Stat& stat : metrics.stats) {
        bool is_calls = stat.label.ends_with(kCallsOf), is_errors = stat.label.ends_with(kErrorsOf);
        std::string function = key_text(stat.by, "function");
        if ((!is_calls && !is_errors) || function.empty()) continue;
        std::string category(stat.label, 0,
                             stat.label.size() - (is_calls ? kCallsOf : kErrorsOf).size());
        if ((category == kGpuCategory) != (what == CallsOf::gpu)) continue;
        auto add_to = [&](auto& use) {
            use.category = category;
            use.calls += is_calls ? stat.calls : 0;
            use.time_ns += is_calls ? stat.value : 0;
            use.errors += is_errors ? stat.value : 0;
        };
        uses[function].name = function;
        add_to(uses[function]);
        add_to(categories[category]);
    }
    for (auto& [name, use] : uses) report.all.push_back(std::move(use));
    for (auto& [name, use] : categories) add_category(report, std::move(use));
    sort_by_time(report.all, &CallUse::name);
    sort_categories(report);
    return report;
}

}  // namespace mlbcc::profile
