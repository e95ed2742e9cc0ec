// What the command line asks for, as plain data.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "exports/options.h"
#include "load/options.h"
#include "profile/profile.h"
#include "requests/requests.h"
#include "terminal/live_text.h"
#include "text/tell.h"

namespace mlbcc::session {

// Forms of other programs that a trace is written in; tool/commands/convert.cpp has what writes
// them.
enum class ViewFormat { chrome, perfetto, folded, pprof, csv, html };
struct ViewForm {
    ViewFormat format;
    const char *name, *ending;  // on the command line, of the file
};
inline constexpr ViewForm kViewForms[] = {
    {ViewFormat::chrome, "chrome", ".json"},   {ViewFormat::perfetto, "perfetto", ".pftrace"},
    {ViewFormat::folded, "folded", ".folded"}, {ViewFormat::pprof, "pprof", ".pb"},
    {ViewFormat::csv, "csv", ".csv"},          {ViewFormat::html, "html", ".html"}};

struct ServeOptions {  // of `mlbcc serve`
    requests::RequestOptions requests;
    uint64_t interval_ns = 0;  // so often the table is shown; 0: at the end only
    uint64_t one_in = 1;       // requests, of those that are sent to a collector
    static constexpr std::string_view kCategories = "categories";
    std::vector<std::string> syscalls;  // whose time is told, too; kCategories alone: of all
    bool stacks = false;                // of waits
    struct Marker {
        std::string library, function;  // "": none
    } marker;                           // that tells whose work a thread does
};

struct ProfileOptions {    // of `mlbcc profile`
    bool progress = true;  // on a terminal
    int marks = -1;        // descriptor that the program marks its phases on, -1 is none
};

struct ReportOptions {  // of what a profile, requests or calls come to
    std::string json;   // file that it is written to, "-" standard output, "" none
    std::optional<profile::Severity> fail_on;  // findings of a profile: kExitFindings
};

struct FoldedOptions {
    std::string file;  // of folded stacks, "" is none
    bool by_duration = false;
};

struct TargetOptions {  // whom a trace follows
    std::vector<std::string> command;
    std::vector<int> pids;
    bool everyone = false;
    std::string user;  // that the command runs as, "" is who called
    bool keep_root = false;
    bool ignores_children = false;  // as who called does (process/inherited.h)
};

struct OutputOptions {  // the files of a trace
    std::string trace;  // "" is traces/trace_<time>.jsonl, "-" standard output
    FoldedOptions folded;
    std::vector<ViewFormat> formats;  // that the trace is written in, too, at its end
    ReportOptions report;
    std::string keep;  // folder for all that a bug report needs, "" is none
};

struct ScreenOptions {                          // what the terminal shows meanwhile
    std::optional<terminal::LiveFilter> print;  // events, as lines
    bool live = false;                          // what was counted so far, all over it
    // So often it is drawn, or the line of a profile.
    std::optional<std::chrono::nanoseconds> refresh;
};

struct ReloadOptions {
    bool at_signal = false;  // SIGHUP has the rules read anew
    // How long calls that are open when the rules change are waited for.
    std::chrono::nanoseconds wait = std::chrono::seconds(2);
};

struct ReadingOptions {               // of the records
    size_t buffer_bytes = 16u << 20;  // a CPU
    bool realtime = true;
};

struct SummaryOptions {};  // of a trace that is neither

struct TraceOptions {
    load::RuleOptions rules;
    TargetOptions targets;
    OutputOptions output;
    ScreenOptions screen;
    exports::ExportOptions exports;
    ReloadOptions reload;
    ReadingOptions reading;
    std::optional<std::chrono::nanoseconds> duration;
    Verbosity verbosity = Verbosity::normal;
    // What the trace is for, and ends with. Requests to a server have no trace file unless `output`
    // names one.
    std::variant<SummaryOptions, ProfileOptions, ServeOptions> purpose;

    bool is_profile() const { return std::holds_alternative<ProfileOptions>(purpose); }
    load::LoadOptions loading() const {
        return {rules.attach, targets.everyone, reading.buffer_bytes};
    }
    const ServeOptions* serve() const { return std::get_if<ServeOptions>(&purpose); }  // or null
    requests::RequestOptions requests() const {
        return serve() != nullptr ? serve()->requests : requests::RequestOptions();
    }
};

}  // namespace mlbcc::session
