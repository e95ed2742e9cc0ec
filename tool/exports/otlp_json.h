// OTLP as JSON: what is posted to /v1/metrics and /v1/traces.
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <prometheus/metric_family.h>

#include "requests/requests.h"

namespace mlbcc::exports {

struct OtlpResource {
    std::string service, host;
};

// Times are nanoseconds of the wall clock. Counters and histograms count since `start_ns`.
std::string otlp_metrics(const OtlpResource& resource,
                         const std::vector<prometheus::MetricFamily>& families, uint64_t start_ns,
                         uint64_t now_ns);

// A trace with one span for each request. `origin_ns`: of the wall clock, at time 0 of theirs.
std::string otlp_spans(const OtlpResource& resource, const std::vector<requests::Request>& requests,
                       const requests::Parts& parts, uint64_t origin_ns, std::mt19937_64& random);

}  // namespace mlbcc::exports
