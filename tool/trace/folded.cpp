#include "trace/folded.h"

#include "base/tell.h"
#include "report/saved_trace.h"
#include "terminal/progress_bar.h"

namespace mlbcc::trace {

Result<std::unique_ptr<sink::Sink>> open_folded(const FoldedOptions& folded, Verbosity verbosity) {
    auto by = folded.by_duration ? sink::FoldedBy::duration : sink::FoldedBy::events;
    auto note = [verbosity, file = folded.file](const std::string& text) {
        tell_note(verbosity, file + ": " + text);
    };
    return sink::open_folded(folded.file, by, note);
}

int fold_saved_trace(const std::string& file, const FoldedOptions& wanted, Verbosity verbosity) {
    Result<std::unique_ptr<sink::Sink>> folded = open_folded(wanted, verbosity);
    if (!folded) return tell(folded.error());
    terminal::ProgressBar bar(verbosity);
    Result<report::TraceFile> trace = report::TraceFile::open(file, bar.progress());
    if (!trace) return tell(trace.error());
    sink::TraceEnd end;
    Result<report::ReadLines> read = trace->replay(**folded, end);
    bar.end();
    if (!read) return tell(read.error());
    terminal::tell_unread(*read, file, verbosity);
    if (auto done = (*folded)->finish(end, 0); !done) return tell(done.error());
    return 0;
}

}  // namespace mlbcc::trace
