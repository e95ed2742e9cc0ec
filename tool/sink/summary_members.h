// What the `summary`, `sums` and `reload` records of a trace have, said once: the JSONL sink writes
// by it (sink/jsonl_records.cpp), and a saved trace is read by it (saved/saved_summary.cpp).
//
//   members(writer, stat)  ->  "rule":"a.rules:3","kind":"sum","label":"bytes", ...
//   members(reader, stat)  <-  the same
//
// A visitor takes a name and a value, v("calls", stat.calls); some() where the member is there only
// if the value is not 0, false, empty or none; list() for objects. V::kReads tells the two apart.
#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include "sink/layers.h"
#include "sink/sink.h"
#include "target/target.h"

namespace mlbcc::sink {

template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

template <class V, Is<Lost> T> void members(V& v, T& lost) {
    if (!V::kReads && lost.lost == 0) return;
    v("lost", lost.lost);
    v("submitted", lost.submitted);
}

template <class V, Is<Stat> T> void members(V& v, T& stat) {
    v("rule", stat.rule);
    v("kind", stat.kind);
    v("label", stat.label);
    v("unit", stat.unit);
    v("by", stat.by);
    v.sign("value", stat.is_signed);
    v.number("value", stat.value, stat.is_signed);
    if (stat.kind == plan::AggregateKind::sum)
        v("calls", stat.calls);
    else if constexpr (V::kReads)
        stat.calls = stat.value;
    v.some("own_ns", stat.own);
    v.some("over_ns", stat.over_ns);
    members(v, stat.lost);
    v.some("named", stat.is_named);
}

template <class V, Is<Hist> T> void members(V& v, T& hist) {
    v("rule", hist.rule);
    v("label", hist.label);
    v("unit", hist.unit);
    v("by", hist.by);
    v("count", hist.count);
    v.sign("min", hist.is_signed);
    v.number("sum", hist.sum, hist.is_signed);
    v.number("min", hist.min, hist.is_signed);
    v.number("max", hist.max, hist.is_signed);
    v.some("own_ns", hist.own);
    v.buckets("buckets", hist.buckets, hist.is_signed);
    members(v, hist.lost);
}

template <class V, Is<Gauge::Held> T> void members(V& v, T& held) {
    v.json("key", held.key);
    v("value", held.value);
    v.some("stack", held.stack);
}

template <class V, Is<Gauge::Peak> T> void members(V& v, T& peak) {
    if (!V::kReads && peak.function.empty()) return;
    v.seconds("peak_ts", peak.time_ns);
    v("peak_in", peak.function);
    v.some("peak_stack", peak.stack);
}

template <class V, Is<Gauge> T> void members(V& v, T& gauge) {
    v("rule", gauge.rule);
    v("name", gauge.name);
    v("unit", gauge.unit);
    v("pid", gauge.pid);
    v("value", gauge.value);
    v("peak", gauge.peak);
    v.some("by", gauge.by);
    members(v, gauge.at_peak);
    v.list("held", gauge.held);
    if (V::kReads || gauge.held_count > gauge.held.size()) v("held_count", gauge.held_count);
    if constexpr (V::kReads)
        gauge.held_count = std::max<uint64_t>(gauge.held.size(), gauge.held_count);
    members(v, gauge.lost);
}

template <class V, Is<LargestOnes::Entry> T> void members(V& v, T& entry) {
    v.json("value", entry.value.json);
    v.seconds("ts", entry.time_ns);
    v("pid", entry.pid);
    v("tid", entry.tid);
    v("comm", entry.comm);
    v.fields("args", entry.fields);
    v.some("stack", entry.stack);
}

template <class V, Is<LargestOnes> T> void members(V& v, T& largest) {
    v("rule", largest.rule);
    v("label", largest.title);
    v("by", largest.by);
    v("unit", largest.unit);
    v("calls", largest.calls);
    members(v, largest.lost);
    if constexpr (!V::kReads) v.units("units", largest);
    v.list("entries", largest.entries);
    if constexpr (V::kReads) v.units("units", largest);  // of entries that are there
}

template <class V, Is<RuleLoss> T> void members(V& v, T& loss) {
    v("rule", loss.rule);
    v("submitted", loss.submitted);
    v("lost", loss.lost);
    v("received", loss.received);
    v.some("without_stack", loss.without_stack);
    v.some("no_group", loss.no_group);
    v("unmatched_begin", loss.unmatched_begin);
    v("unmatched_end", loss.unmatched_end);
    if (V::kReads || loss.sample > 1) v("sample", loss.sample);
    if constexpr (V::kReads) loss.sample = std::max(1u, loss.sample);
}

template <class V, Is<FunctionTime> T> void members(V& v, T& time) {
    v("function", time.function);
    v("library", time.library);
    v("layer", time.layer);
    v("calls", time.calls);
    v("total_ns", time.total_ns);
    v("max_ns", time.max_ns);
}

template <class V, Is<NestedTime> T> void members(V& v, T& time) {
    v("function", time.function);
    v("library", time.library);
    v("layer", time.layer);
    v("calls", time.calls);
    v("total_ns", time.total_ns);
    v("itself_ns", time.itself_ns);
    v("inside", time.inside);
}

template <class V, Is<Layer> T> void members(V& v, T& layer) {
    v("type", layer.type);
    v("libraries", layer.libraries);
    v("rules", layer.rules);
}

template <class V, Is<LibraryCoverage> T> void members(V& v, T& one) {
    v("library", one.library);
    v("functions", one.functions);
    v("called", one.called);
    v.some("ended", one.ended);
}

template <class V, Is<target::LeftOut> T> void members(V& v, T& one) {
    v("library", one.library);
    v("functions", one.functions);
    v("said", one.said);
}

template <class V, Is<GivenAddresses> T> void members(V& v, T& one) {
    v("library", one.library);
    v("answers", one.answers);
    v("elsewhere", one.elsewhere);
    v.some("untraced", one.untraced);
    v.some("unseen", one.unseen);
}

template <class V, Is<TracingCost::Function> T> void members(V& v, T& one) {
    v("function", one.function);
    v("library", one.library);
    v("hits", one.hits);
    v("ns", one.ns);
    v.some("by_pattern", one.by_pattern);
}

template <class V, Is<TracingCost> T> void members(V& v, T& cost) {
    v("ns", cost.ns);
    v.some("cpu_ns", cost.cpu_ns);
    v.list("functions", cost.functions);
}

// All but its type and time.
template <class V, Is<TraceEnd> T, Is<std::vector<Layer>> Layers>
void members(V& v, T& end, Layers& layers) {
    v("events", end.events);
    v("lost", end.lost);
    v.list("stats", end.metrics.stats);
    v.list("hists", end.metrics.hists);
    v.list("gauges", end.metrics.gauges);
    v.some_list("largest", end.metrics.largest);
    v.list("losses", end.metrics.losses);
    v.list("functions", end.metrics.functions);
    v.some_list("nested", end.metrics.nested);
    v.some_list("coverage", end.metrics.coverage);
    v.some_list("left_out", end.metrics.left_out);
    v.some_list("addresses", end.metrics.addresses);
    v.some("going_on", end.metrics.going_on);
    v.some("too_deep", end.metrics.too_deep);
    v.some("calls_32_bit", end.metrics.calls_32_bit);
    v.object("cost", end.metrics.cost);
    v.list("layers", layers);
    v("late", end.late);
    v("processes", end.processes);
    v("threads", end.threads);
    v.some("reloads", end.reloads);
    v.some("end", end.end_reason);
    for (const EndCounter& one : end_counters()) v.some(one.name, end.*one.count);
}

}  // namespace mlbcc::sink
