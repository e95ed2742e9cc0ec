#include "saved/saved_summary.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace mlbcc::saved {
namespace {

std::string string_of(const Json& object, const char* name) {
    return std::string(text_of(object, name));
}

rules::Unit unit_of(const Json& object, const char* name = "unit") {
    std::string_view unit = text_of(object, name);
    if (unit == "ns") return rules::Unit::nanoseconds;
    return unit == "bytes" ? rules::Unit::bytes : rules::Unit::none;
}

sink::Group group_of(const Json& object, const char* name = "by") {
    sink::Group group;
    auto by = object.FindMember(name);
    if (by == object.MemberEnd() || !by->value.IsObject()) return group;
    for (const auto& one : by->value.GetObject()) {
        group.emplace_back(as_text(one.name), json_text(one.value));
    }
    return group;
}

bool as_bits(const Json& value, bool is_signed, uint64_t& out) {
    if (!is_signed) return as_unsigned(value, out);
    int64_t number = 0;
    const bool is_number = as_signed(value, number);
    out = static_cast<uint64_t>(number);
    return is_number;
}

sink::Lost lost_of(const Json& json) {
    return {false, unsigned_of(json, "lost"), unsigned_of(json, "submitted")};
}

std::optional<uint64_t> own_of(const Json& json) {
    return json.HasMember("own_ns") ? std::optional(unsigned_of(json, "own_ns")) : std::nullopt;
}

void read(const Json& json, sink::Stat& stat) {
    bool is_sum = text_of(json, "kind") == "sum";
    stat.rule = string_of(json, "rule");
    stat.kind = is_sum ? plan::AggregateKind::sum : plan::AggregateKind::count;
    stat.label = string_of(json, "label");
    stat.unit = unit_of(json);
    stat.by = group_of(json);
    int64_t value = signed_of(json, "value");
    stat.is_signed = value < 0;
    stat.value = stat.is_signed ? static_cast<uint64_t>(value) : unsigned_of(json, "value");
    stat.calls = is_sum ? unsigned_of(json, "calls") : stat.value;
    stat.over_ns = unsigned_of(json, "over_ns");
    stat.own = own_of(json);
    stat.is_named = is_true(json, "named");
    stat.lost = lost_of(json);
}

void read(const Json& json, sink::Hist& hist) {
    hist.rule = string_of(json, "rule");
    hist.label = string_of(json, "label");
    hist.unit = unit_of(json);
    hist.by = group_of(json);
    // A line shows signs, not types.
    hist.is_signed = signed_of(json, "min") < 0;
    const auto bits = [&](const char* name) {
        return hist.is_signed ? static_cast<uint64_t>(signed_of(json, name))
                              : unsigned_of(json, name);
    };
    hist.count = unsigned_of(json, "count");
    hist.sum = bits("sum");
    hist.min = bits("min");
    hist.max = bits("max");
    hist.own = own_of(json);
    hist.lost = lost_of(json);
    const Json* buckets = list_of(json, "buckets");
    if (buckets == nullptr) return;
    for (const Json& one : buckets->GetArray()) {
        sink::Hist::Bucket bucket{};
        bool is_bucket =
            one.IsArray() && one.Size() == 3 && as_bits(one[0], hist.is_signed, bucket.low) &&
            as_bits(one[1], hist.is_signed, bucket.high) && as_unsigned(one[2], bucket.count);
        if (is_bucket) hist.buckets.push_back(bucket);
    }
}

void read(const Json& json, sink::Gauge::Held& held) {
    auto key = json.FindMember("key");
    held.key = key == json.MemberEnd() ? "null" : json_text(key->value);
    held.value = signed_of(json, "value");
    held.stack = texts_of(json, "stack");
}

void read(const Json& json, sink::RuleLoss& loss) {
    loss.rule = string_of(json, "rule");
    loss.submitted = unsigned_of(json, "submitted");
    loss.lost = unsigned_of(json, "lost");
    loss.received = unsigned_of(json, "received");
    loss.without_stack = unsigned_of(json, "without_stack");
    loss.no_group = unsigned_of(json, "no_group");
    loss.unmatched_begin = unsigned_of(json, "unmatched_begin");
    loss.unmatched_end = unsigned_of(json, "unmatched_end");
    loss.sample = std::max(1u, static_cast<uint32_t>(unsigned_of(json, "sample")));
}

void read(const Json& json, sink::FunctionTime& time) {
    time.function = string_of(json, "function");
    time.library = string_of(json, "library");
    time.layer = string_of(json, "layer");
    time.calls = unsigned_of(json, "calls");
    time.total_ns = unsigned_of(json, "total_ns");
    time.max_ns = unsigned_of(json, "max_ns");
}

std::vector<std::pair<std::string, uint64_t>> numbers_of(const Json& json, const char* name) {
    std::vector<std::pair<std::string, uint64_t>> all;
    auto found = json.FindMember(name);
    if (found == json.MemberEnd() || !found->value.IsObject()) return all;
    for (const auto& one : found->value.GetObject()) {
        uint64_t number = 0;
        if (as_unsigned(one.value, number)) all.emplace_back(as_text(one.name), number);
    }
    return all;
}

void read(const Json& json, sink::NestedTime& time) {
    time.function = string_of(json, "function");
    time.library = string_of(json, "library");
    time.layer = string_of(json, "layer");
    time.calls = unsigned_of(json, "calls");
    time.total_ns = unsigned_of(json, "total_ns");
    time.itself_ns = unsigned_of(json, "itself_ns");
    time.inside = numbers_of(json, "inside");
}

void read(const Json& json, sink::Layer& layer) {
    layer.type = string_of(json, "type");
    layer.libraries = texts_of(json, "libraries");
    layer.rules = texts_of(json, "rules");
}

void read(const Json& json, sink::LibraryCoverage& one) {
    one.library = string_of(json, "library");
    one.functions = unsigned_of(json, "functions");
    one.called = texts_of(json, "called");
    one.ended = is_true(json, "ended");
}

void read(const Json& json, target::LeftOut& one) {
    one.library = string_of(json, "library");
    one.functions = unsigned_of(json, "functions");
    one.said = string_of(json, "said");
}

void read(const Json& json, sink::GivenAddresses& one) {
    one.library = string_of(json, "library");
    one.answers = unsigned_of(json, "answers");
    one.elsewhere = texts_of(json, "elsewhere");
    one.untraced = texts_of(json, "untraced");
    one.unseen = unsigned_of(json, "unseen");
}

void read(const Json& json, sink::TracingCost::Function& one) {
    one.function = string_of(json, "function");
    one.library = string_of(json, "library");
    one.hits = unsigned_of(json, "hits");
    one.ns = unsigned_of(json, "ns");
    one.by_pattern = is_true(json, "by_pattern");
}

void read(const Json& json, sink::Gauge& gauge);
void read(const Json& json, sink::LargestOnes& list);
void read(const Json& json, sink::LargestOnes::Entry& entry);

template <class T> std::vector<T> read_all(const Json& json, const char* name) {
    std::vector<T> out;
    const Json* list = list_of(json, name);
    if (list == nullptr) return out;
    for (const Json& one : list->GetArray()) {
        if (one.IsObject()) read(one, out.emplace_back());
    }
    return out;
}

void read(const Json& json, sink::Gauge& gauge) {
    gauge.rule = string_of(json, "rule");
    gauge.name = string_of(json, "name");
    gauge.unit = unit_of(json);
    gauge.pid = static_cast<uint32_t>(unsigned_of(json, "pid"));
    gauge.value = signed_of(json, "value");
    gauge.peak = signed_of(json, "peak");
    gauge.by = group_of(json);
    gauge.at_peak = {nanoseconds_of(json, "peak_ts", 1e9), string_of(json, "peak_in"),
                     texts_of(json, "peak_stack")};
    gauge.held = read_all<sink::Gauge::Held>(json, "held");
    gauge.held_count = std::max<uint64_t>(gauge.held.size(), unsigned_of(json, "held_count"));
    gauge.lost = lost_of(json);
}

void read(const Json& json, sink::LargestOnes::Entry& entry) {
    auto value = json.FindMember("value");
    entry.value.json = value == json.MemberEnd() ? "null" : json_text(value->value);
    entry.time_ns = nanoseconds_of(json, "ts", 1e9);
    entry.pid = static_cast<uint32_t>(unsigned_of(json, "pid"));
    entry.tid = static_cast<uint32_t>(unsigned_of(json, "tid"));
    entry.comm = string_of(json, "comm");
    for (auto& [name, text] : group_of(json, "args")) entry.fields.push_back({name, text, {}});
    entry.stack = texts_of(json, "stack");
}

void read(const Json& json, sink::LargestOnes& list) {
    list.rule = string_of(json, "rule");
    list.title = string_of(json, "label");
    list.by = string_of(json, "by");
    list.unit = unit_of(json);
    list.calls = unsigned_of(json, "calls");
    list.entries = read_all<sink::LargestOnes::Entry>(json, "entries");
    auto units = json.FindMember("units");
    bool has_units = units != json.MemberEnd() && units->value.IsObject();
    for (sink::LargestOnes::Entry& entry : list.entries) {
        entry.value.name = list.by;
        entry.value.unit = list.unit;
        for (sink::LargestOnes::Field& field : entry.fields) {
            if (has_units) field.unit = unit_of(units->value, field.name.c_str());
        }
    }
    list.lost = lost_of(json);
}

// A line shows signs, not types: of a clause with one negative group all are signed.
template <class Metric> void spread_signs(std::vector<Metric>& metrics) {
    std::set<std::pair<std::string, std::string>> with_signs;
    for (const Metric& one : metrics) {
        if (one.is_signed) with_signs.emplace(one.rule, one.label);
    }
    for (Metric& one : metrics) one.is_signed = with_signs.contains({one.rule, one.label});
}

// None of a trace that was made by a version that did not know.
std::optional<sink::TracingCost> cost_of(const Json& summary) {
    const auto found = summary.FindMember("cost");
    if (found == summary.MemberEnd() || !found->value.IsObject()) return std::nullopt;
    const Json& json = found->value;
    sink::TracingCost cost;
    cost.ns = unsigned_of(json, "ns");
    if (json.HasMember("cpu_ns")) cost.cpu_ns = unsigned_of(json, "cpu_ns");
    cost.functions = read_all<sink::TracingCost::Function>(json, "functions");
    return cost;
}

}  // namespace

sink::TraceEnd saved_end(const Json& summary) {
    sink::TraceEnd end;
    end.time_ns = nanoseconds_of(summary, "ts", 1e9);
    end.events = unsigned_of(summary, "events");
    end.lost = unsigned_of(summary, "lost");
    end.late = unsigned_of(summary, "late");
    end.processes = unsigned_of(summary, "processes");
    end.threads = unsigned_of(summary, "threads");
    for (const sink::EndCounter& one : sink::end_counters())
        end.*one.count = unsigned_of(summary, one.name);
    end.reloads = unsigned_of(summary, "reloads");
    end.end_reason = string_of(summary, "end");
    end.metrics.stats = read_all<sink::Stat>(summary, "stats");
    end.metrics.hists = read_all<sink::Hist>(summary, "hists");
    end.metrics.gauges = read_all<sink::Gauge>(summary, "gauges");
    end.metrics.largest = read_all<sink::LargestOnes>(summary, "largest");
    end.metrics.losses = read_all<sink::RuleLoss>(summary, "losses");
    end.metrics.functions = read_all<sink::FunctionTime>(summary, "functions");
    end.metrics.nested = read_all<sink::NestedTime>(summary, "nested");
    end.metrics.coverage = read_all<sink::LibraryCoverage>(summary, "coverage");
    end.metrics.left_out = read_all<target::LeftOut>(summary, "left_out");
    end.metrics.addresses = read_all<sink::GivenAddresses>(summary, "addresses");
    end.metrics.going_on = numbers_of(summary, "going_on");
    end.metrics.too_deep = numbers_of(summary, "too_deep");
    end.metrics.calls_32_bit = unsigned_of(summary, "calls_32_bit");
    end.metrics.cost = cost_of(summary);
    spread_signs(end.metrics.stats);
    spread_signs(end.metrics.hists);
    return end;
}

sink::Sums saved_sums(const Json& line) {
    sink::Sums sums{nanoseconds_of(line, "ts", 1e9), nanoseconds_of(line, "since", 1e9),
                    1000 * unsigned_of(line, "every_us"), read_all<sink::Stat>(line, "stats"),
                    read_all<sink::Hist>(line, "hists")};
    spread_signs(sums.stats);
    spread_signs(sums.hists);
    return sums;
}

std::vector<sink::Layer> saved_layers(const Json& summary) {
    return read_all<sink::Layer>(summary, "layers");
}

}  // namespace mlbcc::saved
