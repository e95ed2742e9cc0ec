#include "sink/summary_text.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "base/groups.h"
#include "sink/cost_text.h"
#include "text/terminal_text.h"

namespace mlbcc::sink {
namespace {

constexpr size_t kSlowest = 5, kLongest = 10;
constexpr uint64_t kManyFunctions = 8;  // of fewer the counts themselves say which were called

std::string upper(std::string text) {
    for (char& c : text) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return text;
}

std::string title(const TraceEnd& end, uint64_t start_ns) {
    double seconds = end.time_ns > start_ns ? static_cast<double>(end.time_ns - start_ns) / 1e9 : 0;
    std::string text = fmt::format("=== TRACE SUMMARY ===  {:.2f} s, {}, {}, {}, {} lost", seconds,
                                   plural(end.processes, "process"), plural(end.threads, "thread"),
                                   plural(end.events, "event"), grouped(end.lost));
    return end.end_reason == "interrupted" ? text + " (interrupted)" : text;
}

// slowest: cuCtxCreate 81.2 ms, cuMemcpyHtoD 5.12 ms (128 calls, 20.3 ms)
void add_slowest(Rows& rows, const std::vector<const FunctionTime*>& functions) {
    std::vector<std::string> words{"slowest:"};
    for (size_t i = 0; i < std::min(functions.size(), kSlowest); ++i) {
        const FunctionTime& time = *functions[i];
        if (i > 0) words.back() += ",";
        words.push_back(time.function + " " + short_duration(time.max_ns));
        if (time.calls < 2) continue;
        words.back() +=
            fmt::format(" ({}, {})", plural(time.calls, "call"), short_duration(time.total_ns));
    }
    if (!functions.empty()) rows.wrapped(2, words);
}

using FunctionsByLayer = std::unordered_map<std::string_view, std::vector<const FunctionTime*>>;

FunctionsByLayer by_layer(const std::vector<FunctionTime>& functions) {
    FunctionsByLayer all;
    for (const FunctionTime& time : functions) all[time.layer].push_back(&time);
    return all;
}

std::string layer_text(const TraceEnd& end, const Layer& layer, const FunctionsByLayer& functions,
                       size_t width) {
    Rows rows(width);
    add_metrics(rows, end.metrics, layer.rules);
    for (const LargestOnes& list : end.metrics.largest) {
        bool is_here = std::ranges::find(layer.rules, list.rule) != layer.rules.end();
        if (is_here) add_largest(rows, list);
    }
    auto of_layer = functions.find(layer.type);
    if (of_layer != functions.end()) add_slowest(rows, of_layer->second);
    if (rows.empty()) return {};
    std::string name = upper(layer.type);
    if (layer.libraries.empty()) return "\n" + name + "\n" + rows.text();
    return fmt::format("\n{} ({})\n{}", name, fmt::join(layer.libraries, ", "), rows.text());
}

// cuInit   1.250 ms in 1 call: nvidia 820 us, sched.off_cpu 30.1 us, itself 400 us
std::string nested_text(const std::vector<NestedTime>& times, size_t width) {
    Rows rows(width);
    for (size_t i = 0; i < times.size() && i < kLongest; ++i) {
        const NestedTime& time = times[i];
        std::string behind = " in " + plural(time.calls, "call") + ":";
        for (const auto& [layer, ns] : time.inside) {
            behind += fmt::format(" {} {},", layer, short_duration(ns));
        }
        rows.add(2, time.function, amount(time.total_ns, rules::Unit::nanoseconds),
                 fmt::format("{} itself {}", behind, short_duration(time.itself_ns)));
    }
    return rows.empty() ? "" : "\nWHERE THE TIME OF CALLS WENT\n" + rows.text();
}

// libcuda.so.1   23 of 347 that are traced
std::string coverage_text(const MetricSnapshot& metrics, size_t width) {
    Rows rows(width);
    for (const LibraryCoverage& one : metrics.coverage) {
        if (one.functions <= kManyFunctions) continue;
        rows.add(2, one.library, {grouped(one.called.size()), ""},
                 fmt::format(" of {} traced{}", grouped(one.functions),
                             one.ended ? ", by calls that ended" : ""));
    }
    const char* title = rows.empty() ? "\nFUNCTIONS LEFT OUT\n" : "\nFUNCTIONS THAT WERE CALLED\n";
    for (const target::LeftOut& one : metrics.left_out) {
        rows.add(2, one.library, {grouped(one.functions), ""}, " left out: " + one.said);
    }
    return rows.empty() ? "" : title + rows.text();
}

std::string addresses_text(const MetricSnapshot& metrics, size_t width) {
    Rows rows(width);
    for (const GivenAddresses& one : metrics.addresses) {
        std::string behind = ", where its functions begin";
        if (!one.elsewhere.empty())
            behind =
                fmt::format(", and elsewhere for {}, traced since", fmt::join(one.elsewhere, ", "));
        if (!one.untraced.empty())
            behind += fmt::format("; not traced: {}", fmt::join(one.untraced, ", "));
        if (one.unseen > 0)
            behind += fmt::format("; {} could not be inspected in time", grouped(one.unseen));
        rows.add(2, one.library, {grouped(one.answers), ""}, behind);
    }
    return rows.empty() ? "" : "\nADDRESSES GIVEN TO PROGRAMS\n" + rows.text();
}

std::string losses_text(const std::vector<RuleLoss>& losses, size_t width) {
    Rows rows(width);
    for (const RuleLoss& loss : losses) {
        if (loss.lost == 0) continue;
        rows.add(2, loss.rule, {grouped(loss.lost), ""},
                 fmt::format(" of {} ({})", plural(loss.submitted, "record"),
                             percent_of(loss.lost, std::max(loss.submitted, loss.lost))));
    }
    return rows.empty() ? "" : "\nLOST\n" + rows.text();
}

std::string no_group() {
    return fmt::format("not counted, because the table of groups was full: a count, sum or hist "
                       "has {} at most, a hist in the "
                       "kernel's own functions and tracepoints {}",
                       grouped(groups::kMost), grouped(groups::kMostOfReadyHists));
}

void add_rule_notes(Rows& rows, const RuleLoss& rule) {
    std::vector<std::string> parts;
    if (rule.unmatched_begin > 0)
        parts.push_back(plural(rule.unmatched_begin, "begin") + " without an end");
    if (rule.unmatched_end > 0)
        parts.push_back(plural(rule.unmatched_end, "end") + " without a begin");
    if (rule.without_stack > 0)
        parts.push_back(
            fmt::format("{} of {} without a stack, because the buffer was full (--buffer)",
                        grouped(rule.without_stack), grouped(rule.received)));
    if (rule.no_group > 0) parts.push_back(plural(rule.no_group, "call") + " " + no_group());
    if (rule.sample > 1) parts.push_back(fmt::format("kept 1 call in {}", grouped(rule.sample)));
    if (!parts.empty()) rows.line(fmt::format("  {}: {}", rule.rule, fmt::join(parts, ", ")));
}

std::string notes_text(const TraceEnd& end, size_t width) {
    Rows rows(width);
    for (const RuleLoss& rule : end.metrics.losses) add_rule_notes(rows, rule);
    auto note = [&](uint64_t count, std::string_view noun, std::string_view what) {
        if (count > 0) rows.line(fmt::format("  {} {}", plural(count, noun), what));
    };
    if (end.reloads > 0) {
        rows.line(fmt::format("  rules changed {}: what was counted before is in the trace's "
                              "`reload` lines",
                              plural(end.reloads, "time")));
    }
    for (const auto& [probe, count] : end.metrics.going_on) {
        rows.line(fmt::format("  {} of {} {} not over when the trace ended: counted with the time "
                              "until then",
                              grouped(count), probe, count == 1 ? "was" : "were"));
    }
    for (const auto& [function, calls] : end.metrics.too_deep) {
        rows.line(
            fmt::format("  {} of {}: their ends were not seen, since 64 calls of the thread were "
                        "open already",
                        plural(calls, "call"), function));
    }
    note(end.metrics.calls_32_bit, "system call", "of the 32-bit interface left out");
    note(end.late, "event", "written out of order: long calls, or threads preempted in a probe");
    for (const EndCounter& one : end_counters()) note(end.*one.count, one.noun, one.what);
    return rows.empty() ? "" : "\nNOTES\n" + rows.text();
}

std::string tracing_text(const MetricSnapshot& metrics, size_t width) {
    if (!metrics.cost) return {};
    Rows rows(width);
    add_cost(rows, *metrics.cost);
    for (const std::string& line : mostly_tracing(*metrics.cost, metrics.functions))
        rows.line("    " + line);
    return "\nTRACING COST\n" + rows.text();
}

// Metrics of rules that no layer has: there are none, unless a plan and its metrics disagree.
Layer rest_of(const MetricSnapshot& metrics, const std::vector<Layer>& layers) {
    Layer rest{"other", {}, {}};
    auto add = [&](const std::string& rule) {
        for (const Layer& layer : layers) {
            if (std::ranges::find(layer.rules, rule) != layer.rules.end()) return;
        }
        if (std::ranges::find(rest.rules, rule) == rest.rules.end()) rest.rules.push_back(rule);
    };
    for (const Stat& stat : metrics.stats) add(stat.rule);
    for (const Hist& hist : metrics.hists) add(hist.rule);
    for (const Gauge& gauge : metrics.gauges) add(gauge.rule);
    for (const LargestOnes& list : metrics.largest) add(list.rule);
    return rest;
}

}  // namespace

// In the order of the notes.
std::vector<EndCounter> end_counters() {
    return {
        {"missed", &TraceEnd::missed, "hit",
         "of probes missed by the kernel, in all processes: no program ran"},
        {"malformed", &TraceEnd::malformed, "record", "not understood"},
        {"not_learnt", &TraceEnd::not_learnt, "name", "not learnt: too many"},
        {"not_held", &TraceEnd::not_held, "gauge change", "left out: too many entries"},
        {"not_tallied", &TraceEnd::not_tallied, "call", no_group()},
        {"no_stack", &TraceEnd::no_stack, "event", "without their stack: too many different ones"},
    };
}

std::string summary_text(const TraceEnd& end, uint64_t start_ns, const std::vector<Layer>& layers,
                         size_t width) {
    width = std::max<size_t>(width, 80);
    std::string text = title(end, start_ns) + "\n";
    const FunctionsByLayer functions = by_layer(end.metrics.functions);
    for (const Layer& layer : layers) text += layer_text(end, layer, functions, width);
    text += layer_text(end, rest_of(end.metrics, layers), functions, width);
    text += nested_text(end.metrics.nested, width) + coverage_text(end.metrics, width) +
            addresses_text(end.metrics, width);
    text += losses_text(end.metrics.losses, width) + tracing_text(end.metrics, width) +
            notes_text(end, width);
    return lines_on_terminal(text);
}

}  // namespace mlbcc::sink
