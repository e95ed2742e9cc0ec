#include "commands/folded.h"

#include "saved/saved_trace.h"
#include "session/report_file.h"
#include "terminal/progress_bar.h"
#include "text/tell.h"

namespace mlbcc::commands {

int fold_saved_trace(const std::string& file, const session::FoldedOptions& wanted,
                     Verbosity verbosity) {
    Result<std::unique_ptr<sink::Sink>> folded = session::open_folded(wanted, verbosity);
    if (!folded) return tell(folded.error());
    terminal::ProgressBar bar(verbosity);
    Result<saved::TraceFile> trace = saved::TraceFile::open(file, bar.progress());
    if (!trace) return tell(trace.error());
    sink::TraceEnd end;
    Result<saved::ReadLines> read = trace->replay(**folded, end);
    bar.end();
    if (!read) return tell(read.error());
    terminal::tell_unread(*read, file, verbosity);
    if (auto done = (*folded)->finish(end, 0); !done) return tell(done.error());
    return 0;
}

}  // namespace mlbcc::commands
