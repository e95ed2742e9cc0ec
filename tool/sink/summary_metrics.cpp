#include <algorithm>

#include <fmt/format.h>

#include "sink/summary_text.h"

namespace mlbcc::sink {
namespace {

constexpr size_t kGroups = 10;  // shown of one clause, the largest

bool contains(const std::vector<std::string>& all, const std::string& one) {
    return std::ranges::find(all, one) != all.end();
}

// What one clause of a rule measured, over its groups.
template <class T> struct ClauseOf {
    std::vector<const T*> groups;
};

bool same_clause(const Stat& a, const Stat& b) {
    return a.rule == b.rule && a.label == b.label && a.kind == b.kind;
}
bool same_clause(const Hist& a, const Hist& b) { return a.rule == b.rule && a.label == b.label; }

template <class T>
std::vector<ClauseOf<T>> clauses_of(const std::vector<T>& all, const std::vector<std::string>& rules) {
    std::vector<ClauseOf<T>> clauses;
    for (const T& one : all) {
        if (!contains(rules, one.rule)) continue;
        auto found = std::ranges::find_if(
            clauses, [&](const ClauseOf<T>& clause) { return same_clause(*clause.groups[0], one); });
        if (found == clauses.end()) found = clauses.insert(found, ClauseOf<T>{});
        found->groups.push_back(&one);
    }
    return clauses;
}

Number number_of(const Stat& stat, uint64_t value) {
    return stat.is_signed ? amount(static_cast<int64_t>(value), stat.unit) : amount(value, stat.unit);
}

std::string calls_of(const Stat& stat, uint64_t calls) {
    return stat.kind == plan::AggregateKind::sum ? " in " + plural(calls, "call") : "";
}

bool larger(const Stat* a, const Stat* b) {
    if (!a->is_signed) return a->value > b->value;
    return static_cast<int64_t>(a->value) > static_cast<int64_t>(b->value);
}

// What gauges of the same rule as a sum have to add to its line.
std::string held_behind(const std::vector<const Gauge*>& gauges) {
    std::string text;
    for (const Gauge* gauge : gauges) {
        text += fmt::format("; {} still held, peak {}", amount(gauge->value, gauge->unit).text(),
                            amount(gauge->peak, gauge->unit).text());
        if (gauges.size() > 1) text += fmt::format(" (pid {})", gauge->pid);
    }
    return text;
}

void add_stat(Rows& rows, const ClauseOf<Stat>& clause, const std::string& behind) {
    const Stat& first = *clause.groups[0];
    uint64_t value = 0, calls = 0;
    for (const Stat* group : clause.groups) {
        value += group->value;
        calls += group->calls;
    }
    rows.add(2, first.label, number_of(first, value), calls_of(first, calls) + behind);
    if (first.by.empty()) return;
    std::vector<const Stat*> groups = clause.groups;
    std::ranges::stable_sort(groups, larger);
    for (size_t i = 0; i < std::min(groups.size(), kGroups); ++i) {
        rows.add(4, group_label(groups[i]->by), number_of(first, groups[i]->value),
                 calls_of(first, groups[i]->calls));
    }
    if (groups.size() > kGroups) rows.line(fmt::format("    and {} more", grouped(groups.size() - kGroups)));
}

// The gauges of one rule and name, one a process.
std::vector<std::vector<const Gauge*>> gauges_of(const std::vector<Gauge>& all,
                                                 const std::vector<std::string>& rules) {
    std::vector<std::vector<const Gauge*>> out;
    for (const Gauge& gauge : all) {
        if (!contains(rules, gauge.rule)) continue;
        auto found = std::ranges::find_if(out, [&](const auto& same) { return same[0]->name == gauge.name; });
        if (found == out.end()) found = out.insert(found, {{}});
        found->push_back(&gauge);
    }
    return out;
}

void add_gauge(Rows& rows, const std::vector<const Gauge*>& gauges) {
    for (const Gauge* gauge : gauges) {
        std::string label = gauge->name;
        if (gauges.size() > 1) label += fmt::format(" (pid {})", gauge->pid);
        rows.add(2, label, amount(gauge->value, gauge->unit),
                 " still held, peak " + amount(gauge->peak, gauge->unit).text());
    }
}

}  // namespace

std::string group_label(const Group& by) {
    std::string label;
    for (const auto& [name, value] : by) {
        if (!label.empty()) label += ", ";
        bool is_text = value.size() >= 2 && value.front() == '"';
        label += is_text ? value.substr(1, value.size() - 2) : value;
    }
    return label.empty() ? "\"\"" : label;
}

void add_metrics(Rows& rows, const MetricSnapshot& metrics, const std::vector<std::string>& rules) {
    std::vector<std::vector<const Gauge*>> gauges = gauges_of(metrics.gauges, rules);
    std::vector<bool> told(gauges.size());
    for (const ClauseOf<Stat>& clause : clauses_of(metrics.stats, rules)) {
        const Stat& stat = *clause.groups[0];
        std::string behind;
        for (size_t i = 0; i < gauges.size(); ++i) {
            bool fits = stat.kind == plan::AggregateKind::sum && gauges[i][0]->rule == stat.rule &&
                        gauges[i].size() == 1;
            if (!fits || told[i]) continue;
            behind += held_behind(gauges[i]);
            told[i] = true;
        }
        add_stat(rows, clause, behind);
    }
    for (const ClauseOf<Hist>& clause : clauses_of(metrics.hists, rules)) add_hist(rows, clause.groups);
    for (size_t i = 0; i < gauges.size(); ++i) {
        if (!told[i]) add_gauge(rows, gauges[i]);
    }
    for (const auto& same : gauges) add_held(rows, same);
}

}  // namespace mlbcc::sink
