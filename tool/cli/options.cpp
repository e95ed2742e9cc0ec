#include "cli/options.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/mistakes.h"
#include "cli/targets.h"
#include "cli/values.h"

namespace mlbcc {
namespace {

constexpr std::chrono::milliseconds kShortest{10};  // as often as a terminal bears

void add_rules(CLI::App& app, session::TraceOptions& o, Texts& texts) {
    app.add_option(
           "-r,--rules", o.rules.rules,
           "Rule file, the name of a bundled one (mlbcc rules), or - for standard input; may "
           "be given again")
        ->type_name("FILE|NAME|-")
        ->allow_extra_args(false);
    app.add_option("-e,--rules-text", texts.rules, "Rules themselves; may be given again")
        ->type_name("RULES")
        ->allow_extra_args(false);
    app.add_option("--templates", o.rules.templates,
                   "Folder of BPF C templates, besides the installed ones and before them")
        ->type_name("DIR");
    app.add_option("--headers", o.rules.headers,
                   "Source of the kernel's structures: auto, btf, or a folder of headers")
        ->type_name("auto|btf|DIR");
    app.add_flag("--mangled", o.rules.keep_mangled,
                 "Show names of C++ functions as the compiler writes them");
    app.add_flag("--late-anywhere", o.rules.late_anywhere,
                 "Wait for libraries of optional rules by file name, in any folder");
    app.add_flag("--exact-entry", o.rules.exact_entry,
                 "Probe the first byte of each function, even if that is slower");
    using Way = std::optional<codegen::AttachMode>;
    add_choice(app, "--attach", o.rules.attach,
               Choices<Way>{{"auto", std::nullopt},
                            {"session", codegen::AttachMode::session},
                            {"multi", codegen::AttachMode::multi},
                            {"perf", codegen::AttachMode::perf}},
               "How probes attach: auto, session, multi or perf")
        ->type_name("WAY");
    app.add_flag_callback(
        "--no-cache", [&o] { o.rules.use_cache = false; }, "Compile again, and cache nothing");
}

void add_targets(CLI::App& app, session::TraceOptions& o) {
    using Several = std::vector<std::string>;
    app.add_option_function<Several>(
           "-p,--pid", [&o](const Several& numbers) { add_pids(numbers, o.targets.pids); },
           "Trace these running processes, their threads and children; may be given again")
        ->type_name("N,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    app.add_option_function<Several>(
           "--pid-of", [&o](const Several& names) { add_pids_of(names, o.targets.pids); },
           "Trace all processes that have this name now; may be given again")
        ->type_name("NAME")
        ->allow_extra_args(false);
    app.add_flag("--all", o.targets.everyone, "Trace every process");
    add_duration(app, "-d,--duration", o.duration,
                 "End the trace after this time; a command goes on, untraced, and is waited for")
        ->type_name("5s");
    app.add_option("--user", o.targets.user, "Run the command as this user")->type_name("NAME");
    app.add_flag("--root", o.targets.keep_root,
                 "Under sudo, run the command as root, not as the invoking user");
}

// The command does not inherit it: who reads it sees its end with the trace's.
std::string file_of_descriptor(int fd) {
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
        refuse(fmt::format("descriptor {} is not open for writing", fd),
               fmt::format("redirect it: {}>FILE", fd));
    if (fd > STDERR_FILENO) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fmt::format("/dev/fd/{}", fd);
}

void add_output(CLI::App& app, session::TraceOptions& o) {
    app.add_option(
           "-o,--output", o.output.trace,
           "Trace file (JSON lines); - is standard output; default traces/trace_<time>.jsonl")
        ->type_name("FILE");
    app.add_option_function<int>(
           "--output-fd",
           [&app, &o](int fd) {
               if (app.count("--output") > 0) refuse("-o and --output-fd both name the trace file");
               o.output.trace = file_of_descriptor(fd);
           },
           "Write the trace to this open file descriptor; the command does not inherit it")
        ->type_name("N")
        ->check(unsaid(CLI::NonNegativeNumber));
    app.add_option("--folded", o.output.folded.file,
                   "Write the events' stacks for a flame graph to this file, at the end")
        ->type_name("FILE");
    add_choice(app, "--folded-by", o.output.folded.by_duration,
               Choices<bool>{{"events", false}, {"duration", true}},
               "Stack weight: events, or duration in microseconds")
        ->type_name("events|duration");
    app.add_option("--keep", o.output.keep,
                   "Keep all that a bug report needs in this folder: trace, check --compile, emit")
        ->type_name("DIR");
    app.add_flag_callback(
        "-q,--quiet", [&o] { o.verbosity = Verbosity::quiet; },
        "No summary, no notes: errors only");
    app.add_flag_callback(
        "-v,--verbose", [&o] { o.verbosity = Verbosity::verbose; },
        "Show how long each step takes");
}

void add_running(CLI::App& app, session::TraceOptions& o, Texts& texts) {
    app.add_option_function<std::string>(
           "--buffer", [&o](const std::string& text) { o.reading.buffer_bytes = size_of(text); },
           "Size of the event buffer of each CPU; default 16MiB")
        ->type_name("SIZE");
    app.add_flag("--watch", o.rules.watch,
                 "Reload when a rule file, one of its headers, or a template changes");
    app.add_flag("--reloadable", o.reload.at_signal,
                 "Reload the rules at SIGHUP; --watch does so, too");
    app.add_flag_callback(
        "--no-realtime", [&o] { o.reading.realtime = false; }, "Read events at normal priority");
    terminal::LiveFilter& filter = texts.filter;
    app.add_flag("--print", texts.prints,
                 "Print each call and event to standard output as it happens, one line each");
    app.add_option("--print-type", filter.types, "Print only these types: memory,file")
        ->delimiter(',')
        ->type_name("GLOB")
        ->allow_extra_args(false);
    add_duration(app, "--print-min", filter.min_ns, "Print only calls that took at least this long")
        ->type_name("1ms");
    app.add_flag("--live", o.screen.live,
                 "While tracing, show the counts so far on the whole terminal");
}

void add_times(CLI::App& app, session::TraceOptions& o) {
    add_duration(app, "--reload-wait", o.reload.wait,
                 "When the rules change, wait this long for open calls to end; default 2s")
        ->type_name("2s");
    add_duration(app, "--open-wait", o.rules.open_wait,
                 "Longest time to hold a program that opens an awaited library if mlbcc does not "
                 "answer; default 20s")
        ->type_name("20s");
    app.add_option_function<std::string>(
           "--refresh",
           [&o](const std::string& text) {
               o.screen.refresh = duration_of(text);
               if (*o.screen.refresh < kShortest)
                   refuse(fmt::format("`{}` is too short for --refresh", text),
                          "write 10ms or more");
           },
           "How often the live view, or the line of a profile, is drawn; default 1s, 250ms")
        ->type_name("1s");
}

void add_export(CLI::App& app, CommandLine& line) {
    app.add_option("--prometheus", line.options.exports.prometheus,
                   "While tracing, serve the numbers to Prometheus here; without an address, to "
                   "this machine alone")
        ->type_name("[ADDR]:PORT");
    app.add_option("--otlp", line.options.exports.otlp,
                   "While tracing, send the numbers, and `serve` the requests, to this "
                   "OpenTelemetry collector")
        ->type_name("http[s]://HOST[:PORT]");
}

void add_profile(CLI::App& profile, CommandLine& line) {
    profile
        .add_option("--marks", line.profile.marks,
                    "Each line written to this descriptor begins a phase of that name")
        ->type_name("FD")
        ->check(unsaid(CLI::NonNegativeNumber));
    profile.add_flag_callback(
        "--no-progress", [&line] { line.profile.progress = false; },
        "Show no progress line on the terminal");
}

// Of a profile, running or saved.
void add_profile_result(CLI::App& app, session::ReportOptions& report) {
    using Severity = std::optional<profile::Severity>;
    app.add_option("--json", report.json, "Write it to this file, as JSON")->type_name("FILE");
    add_choice(app, "--fail-on", report.fail_on,
               Choices<Severity>{{"low", profile::Severity::low},
                                 {"medium", profile::Severity::medium},
                                 {"high", profile::Severity::high}},
               "Exit with status 97 if the profile has a finding of this severity or above")
        ->type_name("low|medium|high");
}

void add_inspecting(CLI::App& app, CommandLine& line) {
    app.get_subcommand("check")->add_flag(
        "--compile", line.compile,
        "Compile and load, too, for the running kernel, and attach nothing");
    app.get_subcommand("list")->add_option("pattern", line.pattern,
                                           "Function pattern: cuMem*, libc.so.6:mal*");
    app.get_subcommand("explain")->add_option("pattern", line.pattern, "Only functions that match");
    CLI::App* emit = app.get_subcommand("emit");
    emit->add_flag("--annotate", line.emit.annotate,
                   "The part that is made from the rules, with their text above it");
    emit->add_flag("--asm", line.emit.assembly,
                   "The BPF instructions, with their lines of C and of the rules");
    app.get_subcommand("doctor")->add_flag("--json", line.json, "As JSON");
}

void add_headers(CLI::App& headers, CommandLine& line) {
    headers.add_flag("--json", line.headers.json, "As one JSON object");
    headers.add_flag("--link", line.headers.link,
                     "Make the link /lib/modules/RELEASE/build that other BCC tools need");
    headers
        .add_option("--synthesize", line.headers.synthesize,
                    "Write a header tree from the kernel's BTF into this folder, for other BCC "
                    "tools (BCC_KERNEL_SOURCE)")
        ->type_name("DIR");
}

}  // namespace

void add_all(CLI::App& app, CommandLine& line, Texts& texts) {
    session::TraceOptions& o = line.options;
    add_rules(app, o, texts);
    add_targets(app, o);
    add_output(app, o);
    add_running(app, o, texts);
    add_times(app, o);
    add_export(app, line);
    add_formats(app, line);
    add_commands(app);
    add_inspecting(app, line);
    add_report_options(*app.get_subcommand("report"), line);
    for (const char* name : {"profile", "report"})
        add_profile_result(*app.get_subcommand(name), o.output.report);
    add_profile(*app.get_subcommand("profile"), line);
    add_serve(*app.get_subcommand("serve"), line);
    add_convert(*app.get_subcommand("convert"), line);
    add_timeline(*app.get_subcommand("timeline"), line);
    add_headers(*app.get_subcommand("headers"), line);
}

}  // namespace mlbcc
