#include "exports/page.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <utility>

#include <rapidjson/document.h>

#include "sink/format.h"
#include "sink/json.h"

namespace mlbcc::exports {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;

constexpr const char* kOther = "other";
constexpr double kNs = 1e-9;

struct InUnit {
    const char* suffix;
    double factor;
};
InUnit in_unit(rules::Unit unit) {
    switch (unit) {
    case rules::Unit::none: return {"", 1};
    case rules::Unit::nanoseconds: return {"_seconds", kNs};
    case rules::Unit::bytes: return {"_bytes", 1};
    }
    return {"", 1};
}

// "\"cuda\"" -> cuda; 5 -> 5
std::string text_of_json(const std::string& json) {
    if (json.empty() || json.front() != '"') return json;
    rapidjson::Document text;
    text.Parse(json.data(), json.size());
    return text.IsString() ? std::string(text.GetString(), text.GetStringLength()) : json;
}

// Prometheus takes UTF-8 alone: of other text it would refuse the whole page. Each byte that is
// none becomes the character of its number, as in a trace.
std::string label_text(const std::string& bytes) {
    sink::Buffer quoted(bytes.size() + 16);
    sink::write_text(quoted, bytes);
    return text_of_json(std::string(quoted.view()));
}

// [a-zA-Z_][a-zA-Z0-9_]*, and none of those that every metric of a rule has, or histograms.
std::string label_name(std::string name) {
    for (char& c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    }
    const bool taken = name == "rule" || name == "name" || name == "le" || name == "pid";
    const bool is_bad = name.empty() || name.starts_with("__") ||
                        std::isdigit(static_cast<unsigned char>(name.front())) != 0;
    return taken || is_bad ? "by_" + name : name;
}

// What the buckets shown are below. Of values: powers of two, of which each second one is shown,
// and where they may be negative, those too; times from 1 us to 69 s.
std::vector<uint64_t> bounds_of(const sink::Hist& hist) {
    const bool is_time = hist.unit == rules::Unit::nanoseconds;
    const int first = is_time ? 10 : 0, last = is_time ? 36 : 40, step = is_time ? 1 : 2;
    std::vector<uint64_t> bounds;
    for (int power = last; hist.is_signed && power >= first; power -= step)
        bounds.push_back(0 - (uint64_t{1} << power));
    if (hist.is_signed) bounds.push_back(0);
    for (int power = first; power <= last; power += step) bounds.push_back(uint64_t{1} << power);
    return bounds;
}

ClientMetric::Histogram histogram_of(const sink::Hist& hist, double factor) {
    const auto order = [&](uint64_t bits) { return buckets::ordered(bits, hist.is_signed); };
    ClientMetric::Histogram out;
    out.sample_count = 0;
    for (const sink::Hist::Bucket& bucket : hist.buckets) out.sample_count += bucket.count;
    out.sample_sum = sink::as_double(hist.sum, hist.is_signed) * factor;
    for (uint64_t below : bounds_of(hist)) {
        uint64_t seen = 0;
        for (const sink::Hist::Bucket& bucket : hist.buckets)
            seen += order(bucket.high) <= order(below) ? bucket.count : 0;
        out.bucket.push_back({seen, sink::as_double(below - 1, hist.is_signed) * factor});
    }
    return out;
}

void add_to(ClientMetric::Histogram& all, const ClientMetric::Histogram& one) {
    all.sample_count += one.sample_count;
    all.sample_sum += one.sample_sum;
    if (all.bucket.empty()) {
        all.bucket = one.bucket;
        return;
    }
    for (size_t i = 0; i < all.bucket.size(); ++i)
        all.bucket[i].cumulative_count += one.bucket[i].cumulative_count;
}

constexpr double kLatencies[] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                 0.1,    0.25,    0.5,    1,     2.5,    5,     10,   30,    60};

uint64_t resident_bytes() {
    uint64_t size = 0, resident = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "re");
    if (file == nullptr) return 0;
    const int read = std::fscanf(file, "%lu %lu", &size, &resident);
    std::fclose(file);
    return read == 2 ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

ClientMetric& ExportPage::metric(const std::string& name, MetricType type, const char* help,
                                 PageLabels labels) {
    Family& family = families_[name];
    if (family.metrics.name.empty()) {
        family.metrics.name = name;
        family.metrics.help = help;
        family.metrics.type = type;
    }
    auto [at, is_new] = family.index.try_emplace(labels, family.metrics.metric.size());
    if (is_new) family.metrics.metric.emplace_back().label = std::move(labels);
    return family.metrics.metric[at->second];
}

void ExportPage::count(const std::string& name, const char* help, PageLabels labels, double value) {
    metric(name, MetricType::Counter, help, std::move(labels)).counter.value += value;
}

void ExportPage::level(const std::string& name, const char* help, PageLabels labels, double value) {
    metric(name, MetricType::Gauge, help, std::move(labels)).gauge.value += value;
}

PageLabels ExportPage::rule_labels(const std::string& metric, const std::string& rule,
                                   const std::string& name, const sink::Group& by, uint32_t pid) {
    PageLabels labels{{"rule", rule}, {"name", name}};
    if (pid != 0) labels.push_back({"pid", std::to_string(pid)});
    for (const auto& [key, value] : by) labels.push_back({label_name(key), text_of_json(value)});
    if (labels.size() == 2) return labels;
    Groups& shown = shown_[metric + '\n' + rule + '\n' + name];
    if (shown.contains(labels)) return labels;
    if (shown.size() < kGroups) {
        shown.insert(labels);
        return labels;
    }
    for (size_t i = 2; i < labels.size(); ++i) labels[i].value = kOther;
    return labels;
}

void ExportPage::add(const sink::Stat& stat) {
    const bool is_count = stat.kind == plan::AggregateKind::count;
    const InUnit unit = is_count ? InUnit{"", 1} : in_unit(stat.unit);
    if (is_count) {
        const std::string name = "mlbcc_rule_calls_total";
        count(name, "What `count` of a rule counted.",
              rule_labels(name, stat.rule, stat.label, stat.by), static_cast<double>(stat.value));
    } else if (stat.is_signed) {
        const std::string name = std::string("mlbcc_rule_sum_signed") + unit.suffix;
        level(name, "The `sum` of a rule over values that may be negative.",
              rule_labels(name, stat.rule, stat.label, stat.by),
              sink::as_double(stat.value, true) * unit.factor);
    } else {
        const std::string name = std::string("mlbcc_rule_sum") + unit.suffix + "_total";
        count(name, "What `sum` of a rule added up.",
              rule_labels(name, stat.rule, stat.label, stat.by),
              static_cast<double>(stat.value) * unit.factor);
    }
}

void ExportPage::add(const sink::Hist& hist) {
    const InUnit unit = in_unit(hist.unit);
    const std::string name =
        std::string(hist.is_signed ? "mlbcc_rule_signed_values" : "mlbcc_rule_values") +
        unit.suffix;
    add_to(metric(name, MetricType::Histogram, "The values that `hist` of a rule saw.",
                  rule_labels(name, hist.rule, hist.label, hist.by))
               .histogram,
           histogram_of(hist, unit.factor));
}

void ExportPage::add(const sink::Gauge& gauge) {
    const InUnit unit = in_unit(gauge.unit);
    for (const auto& [kind, help, value] :
         {std::tuple{"mlbcc_rule_level", "The `gauge` of a rule.", gauge.value},
          std::tuple{"mlbcc_rule_peak", "The most that the `gauge` of a rule was.", gauge.peak}}) {
        const std::string name = std::string(kind) + unit.suffix;
        level(name, help, rule_labels(name, gauge.rule, gauge.name, gauge.by, gauge.pid),
              static_cast<double>(value) * unit.factor);
    }
}

// An estimate, which may fall when more is known.
void ExportPage::add(const sink::TracingCost& cost) {
    level("mlbcc_tracing_cost_seconds", "CPU time of traced threads that tracing took, estimated.",
          {}, static_cast<double>(cost.ns) * kNs);
    for (const sink::TracingCost::Function& one : cost.functions) {
        level("mlbcc_tracing_cost_of_function_seconds",
              "The same, by function: those that cost most.",
              {{"function", one.function}, {"library", one.library}},
              static_cast<double>(one.ns) * kNs);
    }
    if (!cost.cpu_ns) return;
    level("mlbcc_traced_cpu_seconds", "CPU time of traced threads, tracing included.", {},
          static_cast<double>(*cost.cpu_ns) * kNs);
}

void ExportPage::add(const sink::TraceEnd& so_far) {
    for (const sink::Stat& stat : so_far.metrics.stats) add(stat);
    for (const sink::Hist& hist : so_far.metrics.hists) add(hist);
    for (const sink::Gauge& gauge : so_far.metrics.gauges) add(gauge);
    for (const sink::RuleLoss& loss : so_far.metrics.losses) {
        count("mlbcc_rule_events_total", "Events of a rule, with those that were lost.",
              {{"rule", loss.rule}}, static_cast<double>(loss.submitted));
        count("mlbcc_rule_lost_events_total", "Events of a rule that were lost.",
              {{"rule", loss.rule}}, static_cast<double>(loss.lost));
    }
    count("mlbcc_events_total", "Events that were received.", {},
          static_cast<double>(so_far.events));
    count("mlbcc_lost_events_total", "Events that were lost.", {},
          static_cast<double>(so_far.lost));
    if (so_far.metrics.cost) add(*so_far.metrics.cost);
    count("mlbcc_reloads_total", "How often the rules changed: their numbers began anew.", {},
          static_cast<double>(so_far.reloads));
}

void ExportPage::add(const requests::EndpointUse& use, const requests::Parts& parts) {
    bool is_own = endpoints_.contains(use.name);
    if (!is_own && endpoints_.size() < most_endpoints_) is_own = endpoints_.insert(use.name).second;
    const PageLabels endpoint{{"endpoint", is_own ? label_text(use.name) : kOther}};
    auto with = [&](const char* name, const char* value) {
        PageLabels labels = endpoint;
        labels.push_back({name, value});
        return labels;
    };
    ClientMetric::Histogram times;
    times.sample_count = use.requests;
    times.sample_sum = static_cast<double>(use.time_ns) * kNs;
    for (double most : kLatencies) {
        const auto ns = static_cast<uint64_t>(std::llround(most * 1e9));
        times.bucket.push_back({use.latency.at_most(ns), most});
    }
    add_to(metric("mlbcc_request_duration_seconds", MetricType::Histogram,
                  "How long answered requests took.", endpoint)
               .histogram,
           times);
    auto number = [](uint64_t value) { return static_cast<double>(value); };
    count("mlbcc_requests_total", "Requests that were answered.", endpoint, number(use.requests));
    count("mlbcc_request_errors_total", "Answers of status 4xx (client) and 5xx (server).",
          with("side", "client"), number(use.client_errors));
    count("mlbcc_request_errors_total", "", with("side", "server"), number(use.server_errors));
    count("mlbcc_requests_unanswered_total", "Requests whose connection closed before an answer.",
          endpoint, number(use.unanswered));
    count("mlbcc_request_received_bytes_total", "Bytes of requests.", endpoint,
          number(use.bytes_in));
    count("mlbcc_request_sent_bytes_total", "Bytes of answers.", endpoint, number(use.bytes_out));
    for (size_t i = 0; i < parts.names().size(); ++i) {
        count("mlbcc_request_part_seconds_total", "What answered requests spent their time on.",
              with("part", parts.names()[i].c_str()), number(use.parts[i]) * kNs);
    }
}

void ExportPage::add(const requests::Requests& requests, uint64_t time_ns) {
    for (const requests::EndpointUse* use : requests.endpoints().all()) add(*use, requests.parts());
    const requests::OpenRequests open = requests.open(time_ns);
    level("mlbcc_requests_waiting", "Requests whose answer is to come.", {},
          static_cast<double>(open.waiting));
    level("mlbcc_requests_overdue", "Requests without an answer for longer than --timeout.", {},
          static_cast<double>(open.overdue));
    count("mlbcc_requests_shorter_total", "Answered requests shorter than --min-duration.", {},
          static_cast<double>(requests.endpoints().shorter()));
}

void ExportPage::add_own_cost() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    count("mlbcc_process_cpu_seconds_total", "CPU time of the tracer.", {},
          seconds(use.ru_utime) + seconds(use.ru_stime));
    level("mlbcc_process_resident_memory_bytes", "Memory of the tracer.", {},
          static_cast<double>(resident_bytes()));
    level("mlbcc_build_info", "The tracer that this is.", {{"version", MLBCC_VERSION}}, 1);
}

std::vector<prometheus::MetricFamily> ExportPage::take() {
    std::vector<prometheus::MetricFamily> all;
    for (auto& [name, family] : families_) all.push_back(std::move(family.metrics));
    families_.clear();
    return all;
}

}  // namespace mlbcc::exports
