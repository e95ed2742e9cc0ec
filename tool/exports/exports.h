// What a running trace shows to Prometheus and sends to an OpenTelemetry collector: what its rules
// measured so far, and the requests to a server -> metrics and spans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "exports/options.h"
#include "exports/otlp.h"
#include "exports/page.h"
#include "exports/prometheus.h"
#include "requests/requests.h"
#include "sink/sink.h"

namespace mlbcc::exports {

class Exports {
public:
    // Made only where somebody asks. The requests, too, may be null: the trace has none.
    using Counted = std::function<sink::TraceEnd()>;

    // At most so many endpoints of requests have metrics of their own.
    explicit Exports(size_t endpoints) : page_(endpoints) {}

    // `command`: what is traced, {} where it runs already. Errors: an address that is none, or in
    // use.
    Result<void> open(const ExportOptions& options, const std::vector<std::string>& command);
    std::optional<std::string> url() const;  // of the page, where there is one
    // Each request is to be kept until it is sent (requests::FinishedRequests::keep).
    bool sends_requests() const { return otlp_ != nullptr; }

    void begin(uint64_t start_ns);  // of the trace; CLOCK_MONOTONIC
    // What is due. To be called often.
    void work(const Counted& counted, requests::Requests* requests);
    // The last of it, when all has been counted. What the user should know of it.
    std::vector<std::string> finish(const Counted& counted, requests::Requests* requests);

private:
    std::vector<prometheus::MetricFamily> make_page(const Counted& counted,
                                                    const requests::Requests* requests);
    void give_requests(requests::Requests* requests);

    uint64_t start_ns_ = 0;
    ExportPage page_;
    std::unique_ptr<Exporter> exporter_;  // null: nobody asks
    std::unique_ptr<OtlpExport> otlp_;    // null: nothing is sent
};

}  // namespace mlbcc::exports
