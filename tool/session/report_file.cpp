#include "session/report_file.h"

#include <unistd.h>

#include "base/create_file.h"
#include "base/write_all.h"
#include "sink/summary_text.h"

namespace mlbcc::session {

Result<ReportFile> ReportFile::create(const std::string& path) {
    ReportFile made;
    if (path.empty()) return made;
    made.path_ = path;
    made.fd_ = path == "-" ? UniqueFd(::dup(STDOUT_FILENO)) : create_file(path, 0666);
    if (!made.fd_) return system_error("cannot create " + path, help_for_created(errno));
    return made;
}

Result<void> ReportFile::write(std::string_view json) {
    if (!fd_ || write_all(fd_.get(), json)) return {};
    return system_error("cannot write " + path_);
}

Result<void> write_report(int fd, std::string_view text, const char* what) {
    // Nobody could be told that standard error takes nothing.
    if (write_all(fd, sink::as_shown_on(fd, text)) || fd == STDERR_FILENO) return {};
    return system_error(std::string("cannot write ") + what);
}

Result<std::unique_ptr<sink::Sink>> open_folded(const FoldedOptions& folded, Verbosity verbosity) {
    auto by = folded.by_duration ? sink::FoldedBy::duration : sink::FoldedBy::events;
    auto note = [verbosity, file = folded.file](const std::string& text) {
        tell_note(verbosity, file + ": " + text);
    };
    return sink::open_folded(folded.file, by, note);
}

}  // namespace mlbcc::session
