#include "exports/exports.h"

#include <fmt/format.h>

#include "process/clock.h"
#include "sink/format.h"

namespace mlbcc::exports {

Result<void> Exports::open(const ExportOptions& options, const std::vector<std::string>& command) {
    if (!options.prometheus.empty()) {
        Result<std::unique_ptr<Exporter>> exporter = Exporter::open(options.prometheus);
        if (!exporter) return exporter.error();
        exporter_ = std::move(*exporter);
    }
    if (!options.otlp.empty()) {
        Result<std::unique_ptr<OtlpExport>> otlp = OtlpExport::open(options.otlp, command);
        if (!otlp) return otlp.error();
        otlp_ = std::move(*otlp);
    }
    return {};
}

std::optional<std::string> Exports::url() const {
    if (!exporter_) return {};
    return exporter_->url();
}

void Exports::begin(uint64_t start_ns) {
    start_ns_ = start_ns;
    if (otlp_) otlp_->begin(start_ns);
}

// All of a page is of one moment.
std::vector<prometheus::MetricFamily> Exports::make_page(const Counted& counted,
                                                         const requests::Requests* requests) {
    page_.add(counted());
    if (requests != nullptr) page_.add(*requests, process::monotonic_ns() - start_ns_);
    page_.add_own_cost();
    return page_.take();
}

void Exports::work(const Counted& counted, requests::Requests* requests) {
    if (exporter_ && exporter_->is_page_wanted()) exporter_->give(make_page(counted, requests));
    if (!otlp_) return;
    const uint64_t now_ns = process::monotonic_ns();
    if (otlp_->wants_metrics(now_ns)) otlp_->give(make_page(counted, requests), now_ns);
    if (otlp_->wants_requests(now_ns)) give_requests(requests);
}

void Exports::give_requests(requests::Requests* requests) {
    if (requests != nullptr) otlp_->give(requests->finished().take(), requests->parts());
}

std::vector<std::string> Exports::finish(const Counted& counted, requests::Requests* requests) {
    if (!otlp_) return {};
    otlp_->give(make_page(counted, requests), process::monotonic_ns());
    give_requests(requests);
    std::vector<std::string> notes;
    if (auto note = otlp_->finish()) notes.push_back(std::move(*note));
    const uint64_t left_out = requests == nullptr ? 0 : requests->finished().left_out();
    if (left_out > 0) {
        notes.push_back(
            fmt::format("{} not sent to the collector: there were too many in a second; send a "
                        "sample of them: --sample 1/10",
                        sink::plural(left_out, "request")));
    }
    return notes;
}

}  // namespace mlbcc::exports
