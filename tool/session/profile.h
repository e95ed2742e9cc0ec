// What `mlbcc profile` ends with: the account of a job, as text and as JSON.
#pragma once

#include <memory>

#include "base/result.h"
#include "profile/profile.h"
#include "session/options.h"
#include "sink/sink.h"

namespace mlbcc::session {

// The text goes to `text_fd` (-1: none), report.json is written, too. `has_findings` becomes true
// where report.fail_on says so. Errors: cannot create that file.
Result<std::unique_ptr<profile::ProfileOutput>>
open_profile_output(const ReportOptions& report, int text_fd, bool& has_findings);
// The sink that shows the profile at the end on standard error, unless quiet.
Result<std::unique_ptr<sink::Sink>> open_profile(const ReportOptions& report, Verbosity verbosity,
                                                 const sink::TraceInfo& info, bool& has_findings);

}  // namespace mlbcc::session
