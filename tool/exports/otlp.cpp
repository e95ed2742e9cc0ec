#include "exports/otlp.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "files/paths.h"
#include "process/clock.h"

namespace mlbcc::exports {
namespace {

constexpr uint64_t kMetricsNs = 10'000'000'000, kRequestsNs = 1'000'000'000;
constexpr size_t kSpans = 1000;  // of a message

// As OpenTelemetry names services: by its own variable, else by the program.
std::string service_of(const std::vector<std::string>& command) {
    const char* given = std::getenv("OTEL_SERVICE_NAME");
    if (given != nullptr && *given != '\0') return given;
    if (command.empty()) return "unknown_service";
    return std::string(files::file_name(command.front()));
}

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

Result<std::unique_ptr<OtlpExport>> OtlpExport::open(const std::string& url,
                                                     const std::vector<std::string>& command) {
    Result<std::unique_ptr<OtlpSender>> sender = OtlpSender::open(url);
    if (!sender) return sender.error();
    return std::unique_ptr<OtlpExport>(
        new OtlpExport(std::move(*sender), {service_of(command), host_name()}));
}

void OtlpExport::begin(uint64_t start_ns) {
    origin_ns_ = process::epoch_ns();
    start_ns_ = start_ns;
    metrics_ns_ = start_ns + kMetricsNs;
    requests_ns_ = start_ns + kRequestsNs;
}

bool OtlpExport::wants_metrics(uint64_t now_ns) {
    if (now_ns < metrics_ns_) return false;
    metrics_ns_ = now_ns + kMetricsNs;
    return true;
}

bool OtlpExport::wants_requests(uint64_t now_ns) {
    if (now_ns < requests_ns_) return false;
    requests_ns_ = now_ns + kRequestsNs;
    return true;
}

void OtlpExport::give(const std::vector<prometheus::MetricFamily>& families, uint64_t now_ns) {
    sender_->give("/v1/metrics",
                  otlp_metrics(resource_, families, origin_ns_ + start_ns_, origin_ns_ + now_ns));
}

void OtlpExport::give(std::vector<requests::Request> requests, const requests::Parts& parts) {
    std::vector<requests::Request> some;
    for (size_t i = 0; i < requests.size(); ++i) {
        some.push_back(std::move(requests[i]));
        if (some.size() < kSpans && i + 1 < requests.size()) continue;
        sender_->give("/v1/traces",
                      otlp_spans(resource_, some, parts, origin_ns_ + start_ns_, random_));
        some.clear();
    }
}

}  // namespace mlbcc::exports
