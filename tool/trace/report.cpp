#include "trace/report.h"

#include <unistd.h>

#include <cstdio>

#include "base/output.h"
#include "base/tell.h"
#include "report/saved_trace.h"
#include "sink/summary_text.h"
#include "terminal/progress_bar.h"
#include "trace/folded.h"
#include "trace/profile.h"
#include "trace/report_file.h"
#include "trace/serve.h"

namespace mlbcc::trace {
namespace {

int report_calls(report::TraceFile& trace, terminal::ProgressBar& bar, const std::string& file,
                 const view::CallSelection& wanted, const ReportOptions& report,
                 Verbosity verbosity) {
    Result<ReportFile> json = ReportFile::create(report.json);
    if (!json) return tell(json.error());
    std::unique_ptr<view::CallReport> calls = view::report_calls(wanted);
    Result<report::ReadLines> read = view::convert(trace, *calls);
    bar.end();
    if (!read) return tell(read.error());
    terminal::tell_unread(*read, file, verbosity);
    if (calls->is_empty()) {
        tell_note(verbosity, "no call in " + file + " is of that type and name, and began then");
    }
    Result<void> done = json->write(calls->json());
    if (done && report.json != "-") done = write_report(STDOUT_FILENO, calls->text(), "the report");
    return done ? 0 : tell(done.error());
}

}  // namespace

int run_report(const std::string& file, const std::optional<view::CallSelection>& calls,
               const OutputOptions& output, Verbosity verbosity) {
    if (!output.folded.file.empty()) return fold_saved_trace(file, output.folded, verbosity);
    terminal::ProgressBar bar(verbosity);
    Result<report::TraceFile> opened = report::TraceFile::open(file, bar.progress());
    if (!opened) return tell(opened.error());
    if (calls) return report_calls(*opened, bar, file, *calls, output.report, verbosity);
    if (auto status = report_saved_profile(*opened, file, output.report, verbosity)) return *status;
    if (auto status = report_saved_requests(*opened, file, output.report, verbosity))
        return *status;
    if (!output.report.json.empty())
        return report_calls(*opened, bar, file, {}, output.report, verbosity);
    Result<report::SavedTrace> trace = opened->summary();
    bar.end();
    if (!trace) return tell(trace.error());
    write_error(report::note_on(*trace, file));
    std::string text =
        sink::summary_text(trace->end, 0, trace->layers, sink::terminal_width(STDOUT_FILENO));
    Result<void> done = write_report(STDOUT_FILENO, text, "the summary");
    return done ? 0 : tell(done.error());
}

}  // namespace mlbcc::trace
