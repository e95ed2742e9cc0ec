// The subcommand that traces a server under the bundled rules and says where its requests' time
// goes; and the same of a saved trace.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "report/requests.h"
#include "report/saved_trace.h"
#include "sink/sink.h"
#include "trace/options.h"

namespace mlbcc::trace {

// A trace with rules/serve.rules, besides those of `options`. Returns the exit status.
int run_serve(TraceOptions options, const ServeOptions& serve);
class RequestSink : public sink::Sink {
public:
    virtual report::Requests& requests() = 0;
};
// The sink that shows the table on standard error, unless quiet, at the end and at each
// serve.interval_ns, and writes report.json at the end. Errors: cannot create that.
Result<std::unique_ptr<RequestSink>> open_requests(const ServeOptions& serve,
                                                   const ReportOptions& report, Verbosity verbosity,
                                                   const sink::TraceInfo& info);
// Nothing if the trace in `file` is not one of a server; else the exit status.
// Then nothing of it has been read.
std::optional<int> report_saved_requests(report::TraceFile& trace, const std::string& file,
                                         const ReportOptions& report, Verbosity verbosity);

}  // namespace mlbcc::trace
