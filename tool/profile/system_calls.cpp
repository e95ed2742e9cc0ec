#include "profile/system_calls.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "profile/keyed_sums.h"

namespace mlbcc::profile {
namespace {

template <class T> void sort_by_time(std::vector<T>& uses, std::string T::*name) {
    std::ranges::sort(uses, [name](const T& a, const T& b) {
        return std::tie(b.time_ns, b.calls, a.*name) < std::tie(a.time_ns, a.calls, b.*name);
    });
}

constexpr size_t kShown = 10;

}  // namespace

void CallCount::add(const CallCount& other) {
    calls += other.calls;
    time_ns += other.time_ns;
    errors += other.errors;
}

void add_category(CallTotals& report, CategoryUse use) {
    report.add(use);
    report.categories.push_back(std::move(use));
}

void sort_categories(CallTotals& report) {
    sort_by_time(report.categories, &CategoryUse::category);
}

CallTotals call_report(const sink::MetricSnapshot& metrics, CallsOf what) {
    std::map<std::string, CallUse> uses;
    std::map<std::string, CategoryUse> categories;
    CallTotals report;
    for (const sink::Stat& stat : metrics.stats) {
        bool is_calls = stat.label.ends_with(kCallsOf), is_errors = stat.label.ends_with(kErrorsOf);
        std::string function = key_text(stat.by, "function");
        if ((!is_calls && !is_errors) || function.empty()) continue;
        std::string category(stat.label, 0,
                             stat.label.size() - (is_calls ? kCallsOf : kErrorsOf).size());
        if ((category == kGpuCategory) != (what == CallsOf::gpu)) continue;
        auto add_to = [&](auto& use) {
            use.category = category;
            use.add(is_calls ? CallCount{stat.calls, stat.value, 0} : CallCount{0, 0, stat.value});
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

void add_members(JsonWriter& json, const CallCount& count) {
    member(json, "calls", count.calls);
    member(json, "total_time_ns", count.time_ns);
    member(json, "errors", count.errors);
}

static void add_members(JsonWriter& json, const CategoryUse& use) {
    member(json, "category", use.category);
    add_members(json, static_cast<const CallCount&>(use));
}

static void add_members(JsonWriter& json, const CallUse& use) {
    member(json, "name", use.name);
    member(json, "category", use.category);
    add_members(json, static_cast<const CallCount&>(use));
}

void add_categories(JsonWriter& json, const CallTotals& calls) {
    add_members(json, static_cast<const CallCount&>(calls));
    member(json, "categories", calls.categories);
}

void add_members(JsonWriter& json, const CallTotals& calls) {
    add_categories(json, calls);
    member(json, "by_name", calls.all);
}

void add_row(sink::Rows& rows, size_t indent, const std::string& name, const CallCount& count) {
    std::string failed =
        count.errors == 0 ? "" : fmt::format(", {} failed", sink::grouped(count.errors));
    rows.add(indent, name, {sink::grouped(count.calls), ""},
             fmt::format(" {}, {}{}", count.calls == 1 ? "call" : "calls",
                         sink::short_duration(count.time_ns), failed));
}

void add_functions(sink::Rows& rows, const CallTotals& calls) {
    for (size_t i = 0; i < std::min(kShown, calls.all.size()); ++i)
        add_row(rows, 4, calls.all[i].name, calls.all[i]);
}

void add_rows(sink::Rows& rows, const CallTotals& calls) {
    for (const CategoryUse& use : calls.categories) {
        if (use.calls > 0) add_row(rows, 2, use.category, use);
    }
    add_functions(rows, calls);
}

}  // namespace mlbcc::profile
