// What a running trace shows to Prometheus.
#include "trace/clock.h"
#include "trace/session.h"

namespace mlbcc::trace {

Result<void> Session::open_exporter() {
    if (options_.prometheus.empty()) return {};
    Result<std::unique_ptr<Exporter>> exporter = Exporter::open(options_.prometheus);
    if (!exporter) return exporter.error();
    exporter_ = std::move(*exporter);
    return {};
}

// All of a page is of one moment.
void Session::give_page() {
    if (!exporter_ || !exporter_->is_page_wanted()) return;
    page_.add(trace_end(End::none));
    if (requests_ != nullptr) page_.add(requests_->requests(), monotonic_ns() - start_ns_);
    page_.add_own_cost();
    exporter_->give(page_.take());
}

}  // namespace mlbcc::trace
