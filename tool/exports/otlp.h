// What a running trace sends to an OpenTelemetry collector: every ten seconds and at the end its
// metrics, the same as Prometheus reads, and every second the requests that were answered.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <prometheus/metric_family.h>

#include "exports/otlp_json.h"
#include "exports/otlp_sender.h"
#include "requests/requests.h"

namespace mlbcc::exports {

class OtlpExport {
public:
    // Errors: no address of a collector.
    static Result<std::unique_ptr<OtlpExport>> open(const std::string& url,
                                                    const std::vector<std::string>& command);

    // The monotonic clock at time 0 of the trace.
    void begin(uint64_t start_ns);
    bool wants_metrics(uint64_t now_ns);  // then they are due again in ten seconds
    bool wants_requests(uint64_t now_ns);
    void give(const std::vector<prometheus::MetricFamily>& families, uint64_t now_ns);
    void give(std::vector<requests::Request> requests, const requests::Parts& parts);
    std::optional<std::string> finish() { return sender_->finish(); }  // a note for the user

private:
    OtlpExport(std::unique_ptr<OtlpSender> sender, OtlpResource resource)
        : sender_(std::move(sender)), resource_(std::move(resource)),
          random_(std::random_device{}()) {}

    std::unique_ptr<OtlpSender> sender_;
    OtlpResource resource_;
    std::mt19937_64 random_;
    uint64_t origin_ns_ = 0;  // of the wall clock, when the monotonic one showed 0
    uint64_t start_ns_ = 0, metrics_ns_ = 0, requests_ns_ = 0;
};

}  // namespace mlbcc::exports
