// What each command does, from its options to its exit status: the traced command's own where one
// is traced, else 0, kExitFailure, kExitUsage or kExitFindings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "load/options.h"
#include "session/options.h"
#include "view/view.h"

namespace mlbcc::commands {

struct EmitOptions {
    bool annotate = false;  // the rules' text beside the C
    bool assembly = false;  // the instructions, not the C
};

struct HeadersOptions {
    bool json = false;
    bool link = false;
    std::string synthesize;  // folder, "" is none
};

inline constexpr uint64_t kLeastMaxSize = 64 << 10;  // bytes

struct ConvertOptions {
    session::ViewFormat to{};
    std::string output;                 // file; "" is beside the trace, with the form's ending
    std::optional<uint64_t> max_size;   // bytes of the file, of perfetto
    bool by_duration = false;           // of folded: what a stack weighs
    requests::RequestOptions requests;  // of html, from a trace of `serve`
};

struct TimelineOptions {
    view::CallSelection calls;
    size_t width = 0;  // characters; 0: the terminal's
    bool ascii = false;
};

// One trace, from the command line's wishes to the summary: prepare, load, attach, arm, release the
// command, poll, finish.
int run_trace(const session::TraceOptions& options);
// A trace with rules/profile.rules, besides those of `options`, that says what a job did.
int run_profile(session::TraceOptions options, const session::ProfileOptions& profile);
// A trace with rules/serve.rules, besides those of `options`, that says where requests' time goes.
int run_serve(session::TraceOptions options, const session::ServeOptions& serve);

// With `compile` the programs are compiled and loaded, too, and not attached.
int run_check(const session::TraceOptions& options, bool compile);
// What `pattern` matches ("libc.so.6:mal*", or names in the rules' libraries), or each rule.
int run_list(const load::RuleOptions& options, Verbosity verbosity, const std::string& pattern);
int run_explain(const load::RuleOptions& options, Verbosity verbosity, const std::string& pattern);
// The bundled rule files: names, what each is for, and their folders.
int run_rules(const load::RuleOptions& options);
int run_emit(const session::TraceOptions& options, const EmitOptions& emit);
// What describes the running kernel's structures here, and what would be used. 0 where there is
// something that can be used.
int run_headers(const load::RuleOptions& options, const HeadersOptions& headers);

// A saved trace as the terminal showed it when it ended: the summary, a profile or requests on
// standard output, what is missing on standard error. With output.folded its stacks go to that
// file, and there is no summary. With `calls` it is a report of those calls in place of the
// summary.
int run_report(const std::string& file, const std::optional<view::CallSelection>& calls,
               const session::OutputOptions& output, Verbosity verbosity);
// A saved trace in the form of another program. Without convert.output what is read from standard
// input is written to standard output.
int run_convert(const std::string& file, const ConvertOptions& convert, Verbosity verbosity);
// A saved trace, drawn on the terminal.
int run_timeline(const std::string& file, const TimelineOptions& timeline, Verbosity verbosity);

}  // namespace mlbcc::commands
