// What a server's requests were and where their time went, from the events of rules/serve.rules:
// live, also while it goes on, or later from a saved trace. Shown as text, or as JSON
// (docs/serve.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "requests/connections.h"
#include "requests/endpoints.h"
#include "requests/finished_requests.h"
#include "saved/saved_trace.h"
#include "sink/sink.h"

namespace mlbcc::requests {

struct RequestOptions {
    bool http = true;
    uint64_t least_ns = 0;                 // shorter requests are only counted
    uint64_t overdue_ns = 30'000'000'000;  // without an answer for so long: none is expected
    size_t top = 20;                       // endpoints that are shown
};

class Requests {
public:
    explicit Requests(const RequestOptions& options);
    Requests(const Requests&) = delete;
    Requests& operator=(const Requests&) = delete;

    void add(const saved::EventFields& one);
    void finish();  // no more comes

    const Endpoints& endpoints() const { return endpoints_; }
    FinishedRequests& finished() { return finished_; }
    const Parts& parts() const { return connections_.parts(); }
    OpenRequests open(uint64_t time_ns) const {
        return connections_.open(time_ns, options_.overdue_ns);
    }

    // For a terminal; `time_ns`, since the trace began, is when it is.
    // Those since a moment, beside those of the whole trace.
    struct Since {
        uint64_t time_ns = 0;   // after the trace began
        uint64_t requests = 0;  // until then
    };
    std::string text(uint64_t time_ns, std::optional<Since> since = {}) const;
    std::string json(uint64_t time_ns,
                     uint64_t lost) const;  // one object, with a newline at its end

private:
    RequestOptions options_;
    Endpoints endpoints_;
    FinishedRequests finished_{endpoints_};
    Connections connections_;
    EndOrder order_;
    uint64_t last_ns_ = 0;  // until then all is known
};

struct SavedRequests {
    uint64_t time_ns = 0, lost = 0;
    bool has_summary = false;
};
// Of a saved trace; nothing if it was not made by `mlbcc serve`. Errors as TraceFile's.
Result<std::optional<SavedRequests>> read_requests(saved::TraceFile& file, Requests& requests);

}  // namespace mlbcc::requests
