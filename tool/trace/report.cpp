#include "trace/report.h"

#include <unistd.h>

#include <cstdio>

#include "report/saved_trace.h"
#include "sink/summary_text.h"
#include "trace/folded.h"
#include "trace/messages.h"
#include "trace/profile.h"

namespace mlbcc::trace {

int run_report(const std::string& file, const TraceOptions& options) {
    if (!options.folded.empty()) return fold_saved_trace(file, options);
    if (auto status = report_saved_profile(file, options)) return *status;
    Result<report::SavedTrace> trace = report::read_trace(file);
    if (!trace) return tell(trace.error());
    std::string note = report::note_on(*trace, file);
    std::fwrite(note.data(), 1, note.size(), stderr);
    std::string text =
        sink::summary_text(trace->end, 0, trace->layers, sink::terminal_width(STDOUT_FILENO));
    bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (written && std::fflush(stdout) == 0) return 0;
    return tell(system_error("cannot write the summary"));
}

}  // namespace mlbcc::trace
