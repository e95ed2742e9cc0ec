#include "requests/requests.h"

#include <algorithm>

#include "saved/saved_summary.h"

namespace mlbcc::requests {

Requests::Requests(const RequestOptions& options)
    : options_(options), endpoints_(options.least_ns), connections_(options.http, finished_),
      order_([this](const ServeEvent& one) { connections_.add(one); }) {}

void Requests::add(const saved::EventFields& one) {
    last_ns_ = std::max(last_ns_, one.time_ns + one.duration_ns);
    std::optional<ServeEvent> event = serve_event(one);
    if (!event) return;
    order_.add(std::move(*event));
}

void Requests::finish() {
    order_.finish();
    connections_.finish(last_ns_);
}

Result<std::optional<SavedRequests>> read_requests(saved::TraceFile& file, Requests& requests) {
    std::optional<SavedRequests> saved;
    saved::FieldsReader reader;
    Result<saved::ReadLines> lines = file.each_line([&](const saved::Json& line) {
        if (!saved) {  // the `meta` line
            if (saved::text_of(line, "report") == "serve") saved.emplace();
        } else if (saved::is_summary(line)) {
            sink::TraceEnd end = saved::read_summary(line).end;
            *saved = {end.time_ns, end.lost, true};
        } else if (const saved::EventFields* one = reader.read(line)) {
            saved->time_ns = std::max(saved->time_ns, one->time_ns + one->duration_ns);
            requests.add(*one);
        }
        return saved.has_value();
    });
    if (!lines) return lines.error();
    if (saved) requests.finish();
    return saved;
}

}  // namespace mlbcc::requests
