#include "sink/cost_text.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "sink/format.h"

namespace mlbcc::sink {
namespace {

constexpr size_t kShown = 3;
constexpr double kLeastShare = 0.05;

}  // namespace

std::string cost_text(const TracingCost& cost) {
    std::string text = "about " + short_duration(cost.ns);
    if (!cost.cpu_ns) return text + " of CPU time";
    text += fmt::format(" of {} of CPU time", short_duration(*cost.cpu_ns));
    if (*cost.cpu_ns == 0) return text;
    return text + fmt::format(" ({})", percent_of(cost.ns, *cost.cpu_ns));
}

std::vector<std::string> cost_by_function(const TracingCost& cost) {
    const double least = kLeastShare * static_cast<double>(cost.cpu_ns.value_or(cost.ns));
    std::vector<std::string> lines;
    for (const TracingCost::Function& one : cost.functions) {
        if (lines.size() == kShown || one.ns == 0 || static_cast<double>(one.ns) < least) break;
        std::string line = fmt::format("{} {} in {}", one.function, short_duration(one.ns),
                                       plural(one.hits, "call"));
        if (one.by_pattern) line += fmt::format("; leave it out with `except {}`", one.function);
        lines.push_back(std::move(line));
    }
    return lines;
}

std::vector<std::string> mostly_tracing(const TracingCost& cost,
                                        const std::vector<FunctionTime>& functions) {
    std::vector<std::pair<uint64_t, std::string>> found;
    for (const FunctionTime& one : functions) {
        const auto own = std::ranges::find_if(cost.functions, [&](const auto& other) {
            return other.function == one.function && other.library == one.library;
        });
        if (own == cost.functions.end() || own->hits == 0 || one.calls == 0) continue;
        const uint64_t mean_ns = one.total_ns / one.calls, added_ns = own->ns / own->hits;
        if (mean_ns >= 2 * added_ns) continue;
        found.emplace_back(one.calls,
                           fmt::format("{} took {} a call, most of it tracing (about {} a call)",
                                       one.function, short_duration(mean_ns),
                                       short_duration(added_ns)));
    }
    std::ranges::stable_sort(found, std::greater{}, &std::pair<uint64_t, std::string>::first);
    found.resize(std::min(found.size(), kShown));
    std::vector<std::string> lines;
    for (auto& [calls, line] : found) lines.push_back(std::move(line));
    return lines;
}

void add_cost(Rows& rows, const TracingCost& cost) {
    rows.line("  " + cost_text(cost));
    for (const std::string& line : cost_by_function(cost)) rows.line("    " + line);
}

}  // namespace mlbcc::sink
