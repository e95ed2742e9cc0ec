// What a running trace shows to Prometheus and sends to a collector, and what it says of its cost.
#include <fmt/format.h>

#include "base/tell.h"
#include "system/clock.h"
#include "trace/session.h"

namespace mlbcc::trace {

Result<void> Session::open_exporter() {
    if (!options_.exports.prometheus.empty()) {
        Result<std::unique_ptr<Exporter>> exporter = Exporter::open(options_.exports.prometheus);
        if (!exporter) return exporter.error();
        exporter_ = std::move(*exporter);
        tell_note(options_.verbosity, "Prometheus metrics are at " + exporter_->url());
    }
    if (!options_.exports.otlp.empty()) {
        Result<std::unique_ptr<OtlpExport>> otlp =
            OtlpExport::open(options_.exports.otlp, options_.targets.command);
        if (!otlp) return otlp.error();
        otlp_ = std::move(*otlp);
    }
    return {};
}

void Session::begin_export() {
    if (!otlp_) return;
    otlp_->begin(start_ns_);
    if (const ServeOptions* serve = options_.serve())
        requests_->requests().finished().keep(serve->one_in, serve->requests.least_ns);
}

void Session::attend_cost(uint64_t now_ns) {
    now_->cost.look(now_ns, now_->follower.processes());
    if (screen_ != nullptr) return;  // which shows it
    if (const auto warning = now_->cost.warning()) tell_note(options_.verbosity, *warning);
}

// All of a page is of one moment.
std::vector<prometheus::MetricFamily> Session::make_page() {
    page_.add(trace_end(End::none));
    if (requests_ != nullptr) page_.add(requests_->requests(), system::monotonic_ns() - start_ns_);
    page_.add_own_cost();
    return page_.take();
}

void Session::give_page() {
    if (exporter_ && exporter_->is_page_wanted()) exporter_->give(make_page());
    if (!otlp_) return;
    const uint64_t now_ns = system::monotonic_ns();
    if (otlp_->wants_metrics(now_ns)) otlp_->give(make_page(), now_ns);
    if (otlp_->wants_requests(now_ns)) give_requests();
}

void Session::give_requests() {
    if (requests_ == nullptr) return;
    report::Requests& requests = requests_->requests();
    otlp_->give(requests.finished().take(), requests.parts());
}

// When all has been counted.
void Session::give_last() {
    if (!otlp_) return;
    otlp_->give(make_page(), system::monotonic_ns());
    give_requests();
    if (auto note = otlp_->finish()) tell_note(options_.verbosity, *note);
    if (requests_ == nullptr) return;
    if (const uint64_t left_out = requests_->requests().finished().left_out(); left_out > 0) {
        tell_note(options_.verbosity,
                  fmt::format("{} not sent to the collector: there were too many in "
                              "a second; send a sample of them: --sample 1/10",
                              sink::plural(left_out, "request")));
    }
}

}  // namespace mlbcc::trace
