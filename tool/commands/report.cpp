#include "commands/commands.h"

#include <unistd.h>

#include <cstdio>

#include "commands/folded.h"
#include "saved/saved_trace.h"
#include "session/profile.h"
#include "session/report_file.h"
#include "sink/summary_text.h"
#include "terminal/progress_bar.h"
#include "text/output.h"
#include "text/tell.h"

namespace mlbcc::commands {
namespace {

int report_calls(saved::TraceFile& trace, terminal::ProgressBar& bar, const std::string& file,
                 const view::CallSelection& wanted, const session::ReportOptions& report,
                 Verbosity verbosity) {
    Result<session::ReportFile> json = session::ReportFile::create(report.json);
    if (!json) return tell(json.error());
    std::unique_ptr<view::CallReport> calls = view::report_calls(wanted);
    Result<saved::ReadLines> read = view::convert(trace, *calls);
    bar.end();
    if (!read) return tell(read.error());
    terminal::tell_unread(*read, file, verbosity);
    if (calls->is_empty()) {
        tell_note(verbosity, "no call in " + file + " is of that type and name, and began then");
    }
    Result<void> done = json->write(calls->json());
    if (done && report.json != "-")
        done = session::write_report(STDOUT_FILENO, calls->text(), "the report");
    return done ? 0 : tell(done.error());
}

// Nothing if the trace in `file` is not one of a profile; else the exit status. Then nothing of it
// has been read.
std::optional<int> report_saved_profile(saved::TraceFile& trace, const std::string& file,
                                        const session::ReportOptions& report, Verbosity verbosity) {
    Result<std::optional<profile::SavedProfile>> saved = profile::read_profile(trace);
    if (!saved) return tell(saved.error());
    if (!*saved) return {};
    if (!(*saved)->has_summary) {
        tell_note(verbosity,
                  fmt::format("{} has no summary: it was cut, or is still being written; what was "
                              "counted and summed is missing",
                              file));
    }
    int text_fd = report.json == "-" ? -1 : STDOUT_FILENO;
    bool has_findings = false;
    auto output = session::open_profile_output(report, text_fd, has_findings);
    if (!output) return tell(output.error());
    auto done = (*output)->show((*saved)->profile);
    if (!done) return tell(done.error());
    return has_findings ? kExitFindings : 0;
}

// Nothing if the trace in `file` is not one of a server; else the exit status. Then nothing of it
// has been read.
std::optional<int> report_saved_requests(saved::TraceFile& trace, const std::string& file,
                                         const session::ReportOptions& report,
                                         Verbosity verbosity) {
    requests::Requests requests({});
    Result<std::optional<requests::SavedRequests>> saved = requests::read_requests(trace, requests);
    if (!saved) return tell(saved.error());
    if (!*saved) return {};
    const requests::SavedRequests& found = **saved;
    if (!found.has_summary) {
        tell_note(verbosity,
                  fmt::format("{} has no summary: it was cut, or is still being written", file));
    }
    Result<session::ReportFile> json = session::ReportFile::create(report.json);
    if (!json) return tell(json.error());
    Result<void> done;
    if (json->is_wanted()) done = json->write(requests.json(found.time_ns, found.lost));
    if (done && report.json != "-")
        done = session::write_report(STDOUT_FILENO, requests.text(found.time_ns), "the table");
    return done ? 0 : tell(done.error());
}

}  // namespace

int run_report(const std::string& file, const std::optional<view::CallSelection>& calls,
               const session::OutputOptions& output, Verbosity verbosity) {
    if (!output.folded.file.empty()) return fold_saved_trace(file, output.folded, verbosity);
    terminal::ProgressBar bar(verbosity);
    Result<saved::TraceFile> opened = saved::TraceFile::open(file, bar.progress());
    if (!opened) return tell(opened.error());
    if (calls) return report_calls(*opened, bar, file, *calls, output.report, verbosity);
    if (auto status = report_saved_profile(*opened, file, output.report, verbosity)) return *status;
    if (auto status = report_saved_requests(*opened, file, output.report, verbosity))
        return *status;
    if (!output.report.json.empty())
        return report_calls(*opened, bar, file, {}, output.report, verbosity);
    Result<saved::SavedTrace> trace = opened->summary();
    bar.end();
    if (!trace) return tell(trace.error());
    write_error(saved::note_on(*trace, file));
    std::string text =
        sink::summary_text(trace->end, 0, trace->layers, sink::terminal_width(STDOUT_FILENO));
    Result<void> done = session::write_report(STDOUT_FILENO, text, "the summary");
    return done ? 0 : tell(done.error());
}

}  // namespace mlbcc::commands
