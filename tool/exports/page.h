// What rules measured and what a server's requests were, as the metrics that Prometheus reads.
// Counters never go back, and the labels are bounded: of each metric's groups the first kGroups,
// the most frequent of them first, are shown; the rest together are `other`.
//
//   Stat {"my.rules:3", "Memory asked for", bytes, {function: "malloc"}, 4096}  ->
//   mlbcc_rule_sum_bytes_total{rule="my.rules:3",name="Memory asked for",function="malloc"} 4096
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <prometheus/metric_family.h>

#include "requests/requests.h"
#include "sink/sink.h"

namespace mlbcc::exports {

using PageLabels = std::vector<prometheus::ClientMetric::Label>;

class ExportPage {
public:
    static constexpr size_t kGroups = 50;

    explicit ExportPage(size_t endpoints) : most_endpoints_(endpoints) {}

    void add(const sink::TraceEnd& so_far);
    // `time_ns` is since the trace began.
    void add(const requests::Requests& requests, uint64_t time_ns);
    void add_own_cost();
    // What was added; then it is empty, but knows which groups it showed.
    std::vector<prometheus::MetricFamily> take();

private:
    using Groups = std::set<PageLabels>;
    prometheus::ClientMetric& metric(const std::string& name, prometheus::MetricType type,
                                     const char* help, PageLabels labels);
    // To the metric of these labels, where there is one already.
    void count(const std::string& name, const char* help, PageLabels labels, double value);
    void level(const std::string& name, const char* help, PageLabels labels, double value);
    PageLabels rule_labels(const std::string& metric, const std::string& rule,
                           const std::string& name, const sink::Group& by, uint32_t pid = 0);
    void add(const sink::Stat& stat);
    void add(const sink::Hist& hist);
    void add(const sink::Gauge& gauge);
    void add(const sink::TracingCost& cost);
    void add(const requests::EndpointUse& use, const requests::Parts& parts);

    struct Family {
        prometheus::MetricFamily metrics;
        std::map<PageLabels, size_t> index;
    };
    size_t most_endpoints_;
    std::map<std::string, Family> families_;
    std::map<std::string, Groups> shown_;  // by metric and rule
    std::set<std::string> endpoints_;      // that have a label of their own
};

}  // namespace mlbcc::exports
