#include "commands/commands.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "session/report_file.h"
#include "sink/summary_text.h"
#include "terminal/progress_bar.h"
#include "text/tell.h"

namespace mlbcc::commands {
namespace {

// Where a locale is set that has another form of text. A container without any shows UTF-8.
bool needs_ascii() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(name);
        if (value == nullptr || *value == '\0') continue;
        const std::string_view locale(value);
        return locale.find("UTF-8") == locale.npos && locale.find("utf8") == locale.npos;
    }
    return false;
}

}  // namespace

int run_timeline(const std::string& file, const TimelineOptions& timeline, Verbosity verbosity) {
    terminal::ProgressBar bar(verbosity);
    Result<saved::TraceFile> trace = saved::TraceFile::open(file, bar.progress());
    if (!trace) return tell(trace.error());
    std::unique_ptr<view::Timeline> drawing = view::draw_timeline(timeline.calls);
    Result<saved::ReadLines> read = view::convert(*trace, *drawing);
    bar.end();
    if (!read) return tell(read.error());
    terminal::tell_unread(*read, file, verbosity);
    if (drawing->is_empty())
        tell_note(verbosity, "no call in " + file + " is of that type, name and time");
    const view::TimelineLook look{
        timeline.width > 0 ? timeline.width : sink::terminal_width(STDOUT_FILENO),
        sink::wants_color(STDOUT_FILENO), timeline.ascii || needs_ascii()};
    Result<void> done = session::write_report(STDOUT_FILENO, drawing->text(look), "the timeline");
    return done ? 0 : tell(done.error());
}

}  // namespace mlbcc::commands
