// What `mlbcc serve` shows meanwhile and ends with: where the time of requests went.
#pragma once

#include <memory>

#include "base/result.h"
#include "requests/requests.h"
#include "session/options.h"
#include "sink/sink.h"

namespace mlbcc::session {

class RequestSink : public sink::Sink {
public:
    virtual requests::Requests& requests() = 0;
};
// The sink that shows the table on standard error, unless quiet, at the end and at each
// serve.interval_ns, and writes report.json at the end. Errors: cannot create that.
Result<std::unique_ptr<RequestSink>> open_requests(const ServeOptions& serve,
                                                   const ReportOptions& report, Verbosity verbosity,
                                                   const sink::TraceInfo& info);

}  // namespace mlbcc::session
