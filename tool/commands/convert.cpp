#include "commands/commands.h"

#include <algorithm>

#include "commands/folded.h"
#include "profile/profile.h"
#include "requests/requests.h"
#include "terminal/progress_bar.h"
#include "text/tell.h"
#include "view/view.h"

namespace mlbcc::commands {
namespace {

// "a/trace.jsonl.zst" -> "a/trace.csv"
std::string output_for(std::string file, session::ViewFormat format) {
    if (file == "-") return file;
    for (const char* ending : {".zst", ".jsonl"}) {
        if (file.ends_with(ending)) file.resize(file.size() - std::string_view(ending).size());
    }
    return file +
           std::ranges::find(session::kViewForms, format, &session::ViewForm::format)->ending;
}

std::string profile_of(saved::TraceFile& trace) {
    Result<std::optional<profile::SavedProfile>> saved = profile::read_profile(trace);
    return saved && *saved ? profile::profile_json((*saved)->profile) : "";
}

std::string requests_of(saved::TraceFile& trace, const requests::RequestOptions& options) {
    requests::Requests requests(options);
    Result<std::optional<requests::SavedRequests>> saved = requests::read_requests(trace, requests);
    return saved && *saved ? requests.json((*saved)->time_ns, (*saved)->lost) : "";
}

// Standard input cannot be read twice: there are none of it.
view::Reports reports_of(const std::string& file, const requests::RequestOptions& requests) {
    view::Reports reports;
    if (file == "-") return reports;
    if (auto trace = saved::TraceFile::open(file)) reports.profile = profile_of(*trace);
    if (auto trace = saved::TraceFile::open(file)) reports.requests = requests_of(*trace, requests);
    return reports;
}

view::Opened open_writer(const ConvertOptions& convert, const std::string& path,
                         const std::string& file, const view::TraceOrigin& origin) {
    switch (convert.to) {
    case session::ViewFormat::chrome: return view::open_chrome(path, origin);
    case session::ViewFormat::perfetto: return view::open_perfetto(path, convert.max_size);
    case session::ViewFormat::csv: return view::open_csv(path);
    case session::ViewFormat::pprof: return view::open_pprof(path);
    case session::ViewFormat::html:
        return view::open_html(path, origin, reports_of(file, convert.requests));
    case session::ViewFormat::folded: break;  // has no calls in it
    }
    MLBCC_UNREACHABLE();
}

int write_view(const std::string& file, const ConvertOptions& convert, const std::string& path,
               Verbosity verbosity) {
    terminal::ProgressBar bar(verbosity);
    Result<saved::TraceFile> trace = saved::TraceFile::open(file, bar.progress());
    if (!trace) return tell(trace.error());
    Result<saved::ReadLines> read = view::convert(*trace, [&](const view::TraceOrigin& origin) {
        return open_writer(convert, path, file, origin);
    });
    bar.end();
    if (!read) return tell(read.error());
    terminal::tell_unread(*read, file, verbosity);
    return 0;
}

}  // namespace

int run_convert(const std::string& file, const ConvertOptions& convert, Verbosity verbosity) {
    const std::string path = convert.output.empty() ? output_for(file, convert.to) : convert.output;
    int status = convert.to == session::ViewFormat::folded
                     ? fold_saved_trace(file, {path, convert.by_duration}, verbosity)
                     : write_view(file, convert, path, verbosity);
    bool is_named = convert.output.empty() && path != "-";
    if (status == 0 && is_named) tell_note(verbosity, path + " was written");
    return status;
}

}  // namespace mlbcc::commands
