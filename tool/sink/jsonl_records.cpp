#include "sink/jsonl_records.h"

#include <map>

#include "sink/json_members.h"

namespace mlbcc::sink {
namespace {

void lost_members(Writer& json, const Lost& lost) {
    if (lost.lost == 0) return;
    member(json, "lost", lost.lost);
    member(json, "submitted", lost.submitted);
}

void write(Writer& json, const Stat& stat) {
    bool is_sum = stat.kind == plan::AggregateKind::sum;
    member(json, "rule", stat.rule);
    member(json, "kind", is_sum ? "sum" : "count");
    member(json, "label", stat.label);
    unit_member(json, stat.unit);
    by_member(json, stat.by);
    json.Key("value");
    number(json, stat.value, stat.is_signed);
    if (is_sum) member(json, "calls", stat.calls);
    if (stat.own) member(json, "own_ns", *stat.own);
    if (stat.over_ns > 0) member(json, "over_ns", stat.over_ns);
    lost_members(json, stat.lost);
    if (!stat.is_named) return;
    json.Key("named");
    json.Bool(true);
}

void write(Writer& json, const Hist& hist) {
    member(json, "rule", hist.rule);
    member(json, "label", hist.label);
    unit_member(json, hist.unit);
    by_member(json, hist.by);
    member(json, "count", hist.count);
    for (auto [name, bits] : {std::pair("sum", hist.sum), {"min", hist.min}, {"max", hist.max}}) {
        json.Key(name);
        number(json, bits, hist.is_signed);
    }
    if (hist.own) member(json, "own_ns", *hist.own);
    json.Key("buckets");
    json.StartArray();
    for (const Hist::Bucket& bucket : hist.buckets) {
        json.StartArray();
        number(json, bucket.low, hist.is_signed);
        number(json, bucket.high, hist.is_signed);
        number(json, bucket.count);
        json.EndArray();
    }
    json.EndArray();
    lost_members(json, hist.lost);
}

void seconds_member(Writer& json, const char* name, uint64_t time_ns) {
    Buffer seconds(32);
    write_seconds(seconds, time_ns, 0);
    json.Key(name);
    raw(json, seconds.view(), rapidjson::kNumberType);
}

void write(Writer& json, const Gauge::Peak& peak) {
    seconds_member(json, "peak_ts", peak.time_ns);
    member(json, "peak_in", peak.function);
    if (!peak.stack.empty()) member(json, "peak_stack", peak.stack);
}

void write(Writer& json, const Gauge& gauge) {
    member(json, "rule", gauge.rule);
    member(json, "name", gauge.name);
    unit_member(json, gauge.unit);
    member(json, "pid", gauge.pid);
    json.Key("value");
    signed_number(json, gauge.value);
    json.Key("peak");
    signed_number(json, gauge.peak);
    if (!gauge.by.empty()) by_member(json, gauge.by);
    if (!gauge.at_peak.function.empty()) write(json, gauge.at_peak);
    json.Key("held");
    json.StartArray();
    for (const Gauge::Held& held : gauge.held) {
        json.StartObject();
        json.Key("key");
        raw(json, held.key);
        json.Key("value");
        signed_number(json, held.value);
        if (!held.stack.empty()) member(json, "stack", held.stack);
        json.EndObject();
    }
    json.EndArray();
    if (gauge.held_count > gauge.held.size()) member(json, "held_count", gauge.held_count);
    lost_members(json, gauge.lost);
}

void write(Writer& json, const LargestOnes::Entry& entry) {
    json.Key("value");
    raw(json, entry.value.json);
    seconds_member(json, "ts", entry.time_ns);
    member(json, "pid", entry.pid);
    member(json, "tid", entry.tid);
    member(json, "comm", entry.comm);
    json.Key("args");
    json.StartObject();
    for (const LargestOnes::Field& field : entry.fields) {
        raw(json, quoted(field.name));
        raw(json, field.json);
    }
    json.EndObject();
    if (!entry.stack.empty()) member(json, "stack", entry.stack);
}

// Those that have one.
void units_member(Writer& json, const LargestOnes& list) {
    std::map<std::string, rules::Unit> units;
    for (const LargestOnes::Entry& entry : list.entries) {
        for (const LargestOnes::Field& field : entry.fields) {
            if (field.unit != rules::Unit::none) units[field.name] = field.unit;
        }
    }
    json.Key("units");
    json.StartObject();
    for (const auto& [name, unit] : units) {
        raw(json, quoted(name));
        unit_value(json, unit);
    }
    json.EndObject();
}

void write(Writer& json, const RuleLoss& loss) {
    member(json, "rule", loss.rule);
    member(json, "submitted", loss.submitted);
    member(json, "lost", loss.lost);
    member(json, "received", loss.received);
    if (loss.without_stack > 0) member(json, "without_stack", loss.without_stack);
    if (loss.no_group > 0) member(json, "no_group", loss.no_group);
    member(json, "unmatched_begin", loss.unmatched_begin);
    member(json, "unmatched_end", loss.unmatched_end);
    if (loss.sample > 1) member(json, "sample", loss.sample);
}

void write(Writer& json, const FunctionTime& time) {
    member(json, "function", time.function);
    member(json, "library", time.library);
    member(json, "layer", time.layer);
    member(json, "calls", time.calls);
    member(json, "total_ns", time.total_ns);
    member(json, "max_ns", time.max_ns);
}

void write(Writer& json, const NestedTime& time) {
    member(json, "function", time.function);
    member(json, "library", time.library);
    member(json, "layer", time.layer);
    member(json, "calls", time.calls);
    member(json, "total_ns", time.total_ns);
    member(json, "itself_ns", time.itself_ns);
    members(json, "inside", time.inside);
}

void write(Writer& json, const Layer& layer) {
    member(json, "type", layer.type);
    member(json, "libraries", layer.libraries);
    member(json, "rules", layer.rules);
}

void write(Writer& json, const LargestOnes& list);

void write(Writer& json, const LibraryCoverage& one) {
    member(json, "library", one.library);
    member(json, "functions", one.functions);
    member(json, "called", one.called);
    if (!one.ended) return;
    json.Key("ended");
    json.Bool(true);
}

void write(Writer& json, const target::LeftOut& one) {
    member(json, "library", one.library);
    member(json, "functions", one.functions);
    member(json, "said", one.said);
}

void write(Writer& json, const GivenAddresses& one) {
    member(json, "library", one.library);
    member(json, "answers", one.answers);
    member(json, "elsewhere", one.elsewhere);
    if (!one.untraced.empty()) member(json, "untraced", one.untraced);
    if (one.unseen > 0) member(json, "unseen", one.unseen);
}

void write(Writer& json, const TracingCost::Function& one) {
    member(json, "function", one.function);
    member(json, "library", one.library);
    member(json, "hits", one.hits);
    member(json, "ns", one.ns);
    if (!one.by_pattern) return;
    json.Key("by_pattern");
    json.Bool(true);
}

template <class T> void list(Writer& json, const char* name, const std::vector<T>& all) {
    json.Key(name);
    json.StartArray();
    for (const T& one : all) {
        json.StartObject();
        write(json, one);
        json.EndObject();
    }
    json.EndArray();
}

void write(Writer& json, const LargestOnes& largest) {
    member(json, "rule", largest.rule);
    member(json, "label", largest.title);
    member(json, "by", largest.by);
    unit_member(json, largest.unit);
    member(json, "calls", largest.calls);
    lost_members(json, largest.lost);
    units_member(json, largest);
    list(json, "entries", largest.entries);
}

void cost_member(Writer& json, const TracingCost& cost) {
    json.Key("cost");
    json.StartObject();
    member(json, "ns", cost.ns);
    if (cost.cpu_ns) member(json, "cpu_ns", *cost.cpu_ns);
    list(json, "functions", cost.functions);
    json.EndObject();
}

// All but its type.
void summary(Writer& json, const TraceEnd& end, const std::vector<Layer>& layers) {
    member(json, "events", end.events);
    member(json, "lost", end.lost);
    list(json, "stats", end.metrics.stats);
    list(json, "hists", end.metrics.hists);
    list(json, "gauges", end.metrics.gauges);
    if (!end.metrics.largest.empty()) list(json, "largest", end.metrics.largest);
    list(json, "losses", end.metrics.losses);
    list(json, "functions", end.metrics.functions);
    if (!end.metrics.nested.empty()) list(json, "nested", end.metrics.nested);
    if (!end.metrics.coverage.empty()) list(json, "coverage", end.metrics.coverage);
    if (!end.metrics.left_out.empty()) list(json, "left_out", end.metrics.left_out);
    if (!end.metrics.addresses.empty()) list(json, "addresses", end.metrics.addresses);
    if (!end.metrics.going_on.empty()) members(json, "going_on", end.metrics.going_on);
    if (!end.metrics.too_deep.empty()) members(json, "too_deep", end.metrics.too_deep);
    if (end.metrics.calls_32_bit > 0) member(json, "calls_32_bit", end.metrics.calls_32_bit);
    if (end.metrics.cost) cost_member(json, *end.metrics.cost);
    list(json, "layers", layers);
    member(json, "late", end.late);
    member(json, "processes", end.processes);
    member(json, "threads", end.threads);
    if (end.reloads > 0) member(json, "reloads", end.reloads);
    if (!end.end_reason.empty()) member(json, "end", end.end_reason);
    for (const EndCounter& one : end_counters()) {
        if (end.*one.count > 0) member(json, one.name, end.*one.count);
    }
}

void append_members(Buffer& out, const rapidjson::StringBuffer& buffer) {
    std::string_view members(buffer.GetString(), buffer.GetSize());
    out.append(',');
    out.append(members.substr(1, members.size() - 2));
}

}  // namespace

void write_meta_line(Buffer& out, const TraceInfo& info) {
    rapidjson::StringBuffer buffer;
    Writer json(buffer);
    json.StartObject();
    member(json, "event_id", uint64_t{0});
    member(json, "type", "meta");
    member(json, "schema", uint64_t{1});
    member(json, "tool", info.tool);
    member(json, "start", info.start);
    json.Key("host");
    json.StartObject();
    member(json, "kernel", info.kernel);
    member(json, "arch", info.arch);
    json.EndObject();
    member(json, "command", info.command);
    member(json, "rules", info.rules);
    if (!info.folder.empty()) member(json, "folder", info.folder);
    if (!info.home.empty()) member(json, "home", info.home);
    if (!info.environment.empty()) member(json, "environment", info.environment);
    if (!info.report.empty()) member(json, "report", info.report);
    json.EndObject();
    out.append({buffer.GetString(), buffer.GetSize()});
    out.append('\n');
}

void write_summary_members(Buffer& out, const TraceEnd& end, const std::vector<Layer>& layers) {
    rapidjson::StringBuffer buffer;
    Writer json(buffer);
    json.StartObject();
    member(json, "type", "summary");
    summary(json, end, layers);
    json.EndObject();
    append_members(out, buffer);
}

void write_sums_members(Buffer& out, const Sums& gained) {
    rapidjson::StringBuffer buffer;
    Writer json(buffer);
    json.StartObject();
    member(json, "every_us", gained.every_ns / 1000);
    list(json, "stats", gained.stats);
    list(json, "hists", gained.hists);
    json.EndObject();
    append_members(out, buffer);
}

void write_reload_members(Buffer& out, const Reload& change, const std::vector<Layer>& layers) {
    rapidjson::StringBuffer buffer;
    Writer json(buffer);
    json.StartObject();
    member(json, "type", "reload");
    member(json, "number", change.number);
    member(json, "why", change.why);
    member(json, "rules", change.rules);
    json.Key("before");
    json.StartObject();
    summary(json, change.before, layers);
    json.EndObject();
    json.EndObject();
    append_members(out, buffer);
}

void write_seconds(Buffer& out, uint64_t time_ns, uint64_t start_ns) {
    constexpr uint64_t kSecond = 1'000'000'000;
    if (time_ns < start_ns) out.append('-');
    uint64_t since = time_ns < start_ns ? start_ns - time_ns : time_ns - start_ns;
    out.number(since / kSecond);
    out.append('.');
    out.fraction(since % kSecond, 9);
}

}  // namespace mlbcc::sink
