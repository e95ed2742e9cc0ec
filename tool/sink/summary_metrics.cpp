#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sink/frames.h"
#include "sink/json.h"
#include "sink/summary_text.h"

namespace mlbcc::sink {
namespace {

bool contains(const std::vector<std::string>& all, const std::string& one) {
    return std::ranges::find(all, one) != all.end();
}

// What one clause of a rule measured, over its groups.
template <class T> struct ClauseOf { std::vector<const T*> groups; };

// What rules give one name is one.
bool same_clause(const Stat& a, const Stat& b) {
    bool same_rule = a.rule == b.rule || (a.is_named && b.is_named && a.unit == b.unit);
    return same_rule && a.label == b.label && a.kind == b.kind;
}
bool same_clause(const Hist& a, const Hist& b) {
    return a.rule == b.rule && a.label == b.label;
}

template <class T> std::vector<ClauseOf<T>> clauses_of(const std::vector<T>& all,
                                                       const std::vector<std::string>& rules) {
    std::vector<ClauseOf<T>> clauses;
    for (const T& one : all) {
        if (!contains(rules, one.rule)) continue;
        auto found = std::ranges::find_if(clauses, [&](const ClauseOf<T>& clause) {
            return same_clause(*clause.groups[0], one);
        });
        if (found == clauses.end()) found = clauses.insert(found, ClauseOf<T>{});
        found->groups.push_back(&one);
    }
    return clauses;
}

Number number_of(const Stat& stat, uint64_t value) {
    return amount(value, stat.unit, stat.is_signed);
}

// " in 128 calls, 11.2 GiB/s"
std::string calls_of(const Stat& stat) {
    if (stat.kind != plan::AggregateKind::sum) return "";
    std::string text = " in " + plural(stat.calls, "call") + own_text(stat.own, stat.value);
    if (stat.over_ns == 0) return text;
    auto rate = static_cast<uint64_t>(static_cast<double>(stat.value) * 1e9 /
                                      static_cast<double>(stat.over_ns));
    return text + fmt::format(", {}/s", short_amount(rate, stat.unit));
}

void add_to(Stat& sum, const Stat& one) {
    sum.value += one.value;
    sum.calls += one.calls;
    sum.over_ns += one.over_ns;
    // Of calls that another rule counts nothing is known: one may be within the other.
    add_own(sum.own, sum.rule == one.rule ? one.own : std::nullopt);
}

// " (48.5 %)": of a count that is told apart.
std::string share_of(const Stat& group, const Stat& all) {
    if (all.kind != plan::AggregateKind::count || all.value == 0) return "";
    return fmt::format(" ({:.1f} %)",
                       100.0 * static_cast<double>(group.value) / static_cast<double>(all.value));
}

// The groups of a clause, each once, and the sum of all as the first.
std::vector<Stat> summed(const std::vector<const Stat*>& groups) {
    std::vector<Stat> out{*groups[0]};
    out[0].by.clear();
    out[0].value = out[0].calls = out[0].over_ns = 0;
    out[0].own = 0;
    for (const Stat* group : groups) {
        add_to(out[0], *group);
        if (group->by.empty()) continue;
        auto same = std::find_if(out.begin() + 1, out.end(),
                                 [&](const Stat& known) { return known.by == group->by; });
        if (same == out.end()) {
            out.push_back(*group);
        } else {
            add_to(*same, *group);
        }
    }
    return out;
}

bool larger(const Stat& a, const Stat& b) {
    if (!a.is_signed) return a.value > b.value;
    return static_cast<int64_t>(a.value) > static_cast<int64_t>(b.value);
}

std::string held_text(const Gauge& gauge) {
    return fmt::format(" still held, peak {}", short_amount(gauge.peak, gauge.unit));
}

}  // namespace

std::string own_text(const std::optional<uint64_t>& own, uint64_t whole) {
    if (!own || *own >= whole) return "";
    return ", own " + short_amount(*own, rules::Unit::nanoseconds);
}

void add_own(std::optional<uint64_t>& sum, const std::optional<uint64_t>& one) {
    if (sum && one) {
        *sum += *one;
    } else {
        sum.reset();
    }
}

namespace {

void add_stat(Rows& rows, const ClauseOf<Stat>& clause, const std::string& behind) {
    std::vector<Stat> all = summed(clause.groups);
    rows.add(2, all[0].label, number_of(all[0], all[0].value),
             calls_of(all[0]) + behind + lost_text(all[0].lost));
    std::stable_sort(all.begin() + 1, all.end(), larger);
    size_t groups = all.size() - 1;
    for (size_t i = 1; i <= std::min(groups, kShownGroups); ++i) {
        add_group(rows, all[i].by, number_of(all[0], all[i].value),
                  calls_of(all[i]) + share_of(all[i], all[0]));
    }
    if (groups > kShownGroups)
        rows.line(fmt::format("    and {} more", grouped(groups - kShownGroups)));
}

// The gauges of one rule and name, one a process.
std::vector<std::vector<const Gauge*>> gauges_of(const std::vector<Gauge>& all,
                                                 const std::vector<std::string>& rules) {
    std::vector<std::vector<const Gauge*>> out;
    for (const Gauge& gauge : all) {
        if (!contains(rules, gauge.rule)) continue;
        auto found = std::ranges::find_if(
            out, [&](const auto& same) { return same[0]->name == gauge.name; });
        if (found == out.end()) found = out.insert(found, {{}});
        found->push_back(&gauge);
    }
    return out;
}

void add_gauge(Rows& rows, const std::vector<const Gauge*>& gauges) {
    std::vector<const Gauge*> ordered = gauges;
    std::ranges::stable_sort(ordered, std::greater{}, &Gauge::value);
    for (size_t i = 0; i < std::min(ordered.size(), kShownGroups); ++i) {
        const Gauge& gauge = *ordered[i];
        std::string label = gauge.name;
        if (!gauge.by.empty()) {
            label += fmt::format(" ({} {})", gauge.by[0].first, group_label(gauge.by));
        }
        if (gauges.size() > 1) label += fmt::format(" (pid {})", gauge.pid);
        rows.add(2, label, amount(gauge.value, gauge.unit),
                 held_text(gauge) + lost_text(gauge.lost));
    }
    if (ordered.size() > kShownGroups)
        rows.line(fmt::format("    and {} more", grouped(ordered.size() - kShownGroups)));
}

// "; 0 B still held, peak 500 MiB": what the gauge of a rule adds to the line of its sum.
std::string take_gauge(const Stat& stat, std::vector<std::vector<const Gauge*>>& gauges,
                       Rows& held) {
    if (stat.kind != plan::AggregateKind::sum) return {};
    auto found = std::ranges::find_if(
        gauges, [&](const auto& same) { return same.size() == 1 && same[0]->rule == stat.rule; });
    if (found == gauges.end()) return {};
    const Gauge& gauge = *(*found)[0];
    std::string text =
        "; " + amount(gauge.value, gauge.unit).text() + held_text(gauge) + lost_text(gauge.lost);
    add_held(held, *found);
    gauges.erase(found);
    return text;
}

}  // namespace

std::string lost_text(const Lost& lost) {
    if (lost.lost == 0) return {};
    return fmt::format("; {} of its records were lost",
                       percent_of(lost.lost, std::max(lost.submitted, lost.lost)));
}

std::string group_label(const Group& by) {
    std::string label;
    for (const auto& [name, value] : by) {
        if (!label.empty()) label += ", ";
        const std::vector<std::string> frames = frames_of(value);
        label += value == "[]"    ? "(no stack)"
                 : frames.empty() ? plain_text(value)
                                  : fmt::format("{}", fmt::join(frames, " < "));
    }
    return label.empty() ? "\"\"" : label;
}

void add_group(Rows& rows, const Group& by, Number number, const std::string& behind) {
    constexpr size_t kFrames = 6;
    std::vector<std::string> frames;
    Group others;
    for (const auto& part : by) {
        std::vector<std::string> of_part = frames_of(part.second);
        of_part.empty() ? others.push_back(part) : frames.swap(of_part);
    }
    if (frames.empty()) return rows.add(4, group_label(by), std::move(number), behind);
    const size_t own = own_frame(frames).value_or(0);
    const std::string place = short_frame(frames[own]);
    if (own == 0) frames.erase(frames.begin());
    rows.add(4, others.empty() ? place : group_label(others) + ", " + place, std::move(number),
             behind);
    add_frames(rows, frames, kFrames, 6);
}

namespace {

// "; 1 760 more calls had no group": they are in no number of a rule's clauses with groups.
class NoGroups {
public:
    explicit NoGroups(const MetricSnapshot& metrics) {
        for (const RuleLoss& loss : metrics.losses) {
            if (loss.no_group > 0) rules_[loss.rule].calls += loss.no_group;
        }
        if (rules_.empty()) return;
        for (const Stat& one : metrics.stats) add(one.rule, one.by, one.label);
        for (const Hist& one : metrics.hists) add(one.rule, one.by, one.label);
    }
    std::string of(const std::string& rule) const {
        const auto found = rules_.find(rule);
        if (found == rules_.end()) return {};
        return fmt::format("; {}{} had no group", found->second.clauses.size() > 1 ? "up to " : "",
                           plural(found->second.calls, "more call"));
    }

private:
    struct OfRule {
        uint64_t calls = 0;
        std::set<std::string> clauses;  // those with groups, by their labels
    };
    void add(const std::string& rule, const Group& by, const std::string& label) {
        const auto found = by.empty() ? rules_.end() : rules_.find(rule);
        if (found != rules_.end()) found->second.clauses.insert(label);
    }

    std::map<std::string, OfRule> rules_;
};

}  // namespace

void add_metrics(Rows& rows, const MetricSnapshot& metrics, const std::vector<std::string>& rules) {
    const NoGroups no_groups(metrics);
    std::vector<std::vector<const Gauge*>> gauges = gauges_of(metrics.gauges, rules);
    for (const ClauseOf<Stat>& clause : clauses_of(metrics.stats, rules)) {
        Rows held(0);
        const Stat& first = *clause.groups[0];
        std::string behind = take_gauge(first, gauges, held);
        if (!first.by.empty()) behind += no_groups.of(first.rule);
        add_stat(rows, clause, behind);
        rows.append(held);
    }
    for (const ClauseOf<Hist>& clause : clauses_of(metrics.hists, rules))
        add_hist(rows, clause.groups,
                 clause.groups[0]->by.empty() ? "" : no_groups.of(clause.groups[0]->rule));
    for (const auto& same : gauges) {
        add_gauge(rows, same);
        add_held(rows, same);
    }
}

}  // namespace mlbcc::sink
