// The subcommand that traces a job under the bundled rules and says what it did; and the same of a
// saved trace.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "report/saved_trace.h"
#include "sink/sink.h"
#include "trace/options.h"

namespace mlbcc::trace {

// A trace with rules/profile.rules, besides those of `options`. Returns the exit status.
int run_profile(TraceOptions options, const ProfileOptions& profile);
// The sink that shows the profile on standard error, unless quiet, and writes
// report.json. `has_findings` becomes true at the end where report.fail_on says so. Errors: cannot
// create that file.
Result<std::unique_ptr<sink::Sink>> open_profile(const ReportOptions& report, Verbosity verbosity,
                                                 const sink::TraceInfo& info, bool& has_findings);
// Nothing if the trace in `file` is not one of a profile; else the exit status.
// Then nothing of it has been read.
std::optional<int> report_saved_profile(report::TraceFile& trace, const std::string& file,
                                        const ReportOptions& report, Verbosity verbosity);

}  // namespace mlbcc::trace
