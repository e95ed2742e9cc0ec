#include "cli/options.h"

#include "cli/mistakes.h"

namespace mlbcc {
namespace {

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
    app.add_option("--attach", texts.attach, "How probes attach: auto, session, multi or perf")
        ->type_name("WAY")
        ->check(unsaid(CLI::IsMember({"auto", "session", "multi", "perf"})));
    app.add_flag("--no-cache", texts.no_cache, "Compile again, and cache nothing");
}

void add_targets(CLI::App& app, session::TraceOptions& o, Texts& texts) {
    app.add_option("-p,--pid", texts.pids,
                   "Trace these running processes, their threads and children; may be given again")
        ->type_name("N,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    app.add_option("--pid-of", texts.pids_of,
                   "Trace all processes that have this name now; may be given again")
        ->type_name("NAME")
        ->allow_extra_args(false);
    app.add_flag("--all", o.targets.everyone, "Trace every process");
    app.add_option("-d,--duration", texts.duration,
                   "End the trace after this time; a command goes on, untraced, and is waited for")
        ->type_name("5s");
    app.add_option("--user", o.targets.user, "Run the command as this user")->type_name("NAME");
    app.add_flag("--root", o.targets.keep_root,
                 "Under sudo, run the command as root, not as the invoking user");
}

void add_output(CLI::App& app, session::TraceOptions& o, Texts& texts) {
    app.add_option(
           "-o,--output", o.output.trace,
           "Trace file (JSON lines); - is standard output; default traces/trace_<time>.jsonl")
        ->type_name("FILE");
    app.add_option("--output-fd", texts.output_fd,
                   "Write the trace to this open file descriptor; the command does not inherit it")
        ->type_name("N")
        ->check(unsaid(CLI::NonNegativeNumber));
    app.add_option("--folded", o.output.folded.file,
                   "Write the events' stacks for a flame graph to this file, at the end")
        ->type_name("FILE");
    app.add_option("--folded-by", texts.folded_by,
                   "Stack weight: events, or duration in microseconds")
        ->type_name("events|duration")
        ->check(unsaid(CLI::IsMember({"events", "duration"})));
    app.add_option("--keep", o.output.keep,
                   "Keep all that a bug report needs in this folder: trace, check --compile, emit")
        ->type_name("DIR");
    app.add_flag("-q,--quiet", texts.quiet, "No summary, no notes: errors only");
    app.add_flag("-v,--verbose", texts.verbose, "Show how long each step takes");
}

void add_running(CLI::App& app, session::TraceOptions& o, Texts& texts) {
    app.add_option("--buffer", texts.buffer, "Size of the event buffer of each CPU; default 16MiB")
        ->type_name("SIZE");
    app.add_flag("--watch", o.rules.watch,
                 "Reload when a rule file, one of its headers, or a template changes");
    app.add_flag("--reloadable", o.reload.at_signal,
                 "Reload the rules at SIGHUP; --watch does so, too");
    app.add_flag("--no-realtime", texts.no_realtime, "Read events at normal priority");
    app.add_flag("--print", texts.prints,
                 "Print each call and event to standard output as it happens, one line each");
    app.add_option("--print-type", texts.print_types, "Print only these types: memory,file")
        ->delimiter(',')
        ->type_name("GLOB")
        ->allow_extra_args(false);
    app.add_option("--print-min", texts.print_min, "Print only calls that took at least this long")
        ->type_name("1ms");
    app.add_flag("--live", o.screen.live,
                 "While tracing, show the counts so far on the whole terminal");
}

void add_times(CLI::App& app, Texts& texts) {
    app.add_option("--reload-wait", texts.reload_wait,
                   "When the rules change, wait this long for open calls to end; default 2s")
        ->type_name("2s");
    app.add_option("--open-wait", texts.open_wait,
                   "Longest time to hold a program that opens an awaited library if mlbcc does not "
                   "answer; default 20s")
        ->type_name("20s");
    app.add_option("--refresh", texts.refresh,
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
        ->type_name("http://HOST[:4318]");
}

void add_subcommands(CLI::App& app, CommandLine& line, Texts& texts) {
    auto add = [&](const char* name, const char* description, Command command) {
        CLI::App* sub = app.add_subcommand(name, description);
        sub->fallthrough();
        sub->callback([&line, command] { line.command = command; });
        return sub;
    };
    add("check", "Check rules and their C types, without tracing", Command::check)
        ->add_flag("--compile", line.compile,
                   "Compile and load, too, for the running kernel, and attach nothing");
    add("list", "Show what a pattern, or each rule, matches on this machine", Command::list)
        ->add_option("pattern", line.pattern, "Function pattern: cuMem*, libc.so.6:mal*");
    add("explain", "Show what is read where, where each probe goes, and why", Command::explain)
        ->add_option("pattern", line.pattern, "Only functions that match");
    CLI::App* emit = add("emit", "Print the generated BPF C", Command::emit);
    emit->add_flag("--annotate", line.emit.annotate,
                   "The part that is made from the rules, with their text above it");
    emit->add_flag("--asm", line.emit.assembly,
                   "The BPF instructions, with their lines of C and of the rules");
    add("top", "Trace with a live view: --live; its rules are cuda, unless others are given",
        Command::top);
    CLI::App* report = add("report", "Summarise a saved trace", Command::report);
    add_report_options(*report, line, texts.saved);
    CLI::App* profile = add("profile", "Trace a job and say what it did", Command::profile);
    for (CLI::App* sub : {profile, report}) {
        sub->add_option("--json", line.options.output.report.json, "Write it to this file, as JSON")
            ->type_name("FILE");
        sub->add_option(
               "--fail-on", texts.fail_on,
               "Exit with status 97 if the profile has a finding of this severity or above")
            ->type_name("low|medium|high")
            ->check(unsaid(CLI::IsMember({"low", "medium", "high"})));
    }
    profile
        ->add_option("--marks", line.profile.marks,
                     "Each line written to this descriptor begins a phase of that name")
        ->type_name("FD")
        ->check(unsaid(CLI::NonNegativeNumber));
    profile->add_flag_callback(
        "--no-progress", [&line] { line.profile.progress = false; },
        "Show no progress line on the terminal");
    add("rules", "List the bundled rules: what each is for, and where they are", Command::rules);
    add("doctor", "Check whether tracing works on this machine, and how to fix it", Command::doctor)
        ->add_flag("--json", line.json, "As JSON");
}

void add_headers(CLI::App& app, CommandLine& line) {
    CLI::App* sub = app.add_subcommand(
        "headers", "List the sources of the running kernel's structures, and the one in use");
    sub->fallthrough();
    sub->callback([&line] { line.command = Command::headers; });
    sub->add_flag("--json", line.headers.json, "As one JSON object");
    sub->add_flag("--link", line.headers.link,
                  "Make the link /lib/modules/RELEASE/build that other BCC tools need");
    sub->add_option("--synthesize", line.headers.synthesize,
                    "Write a header tree from the kernel's BTF into this folder, for other BCC "
                    "tools (BCC_KERNEL_SOURCE)")
        ->type_name("DIR");
}

}  // namespace

void add_all(CLI::App& app, CommandLine& line, Texts& texts) {
    add_rules(app, line.options, texts);
    add_targets(app, line.options, texts);
    add_output(app, line.options, texts);
    add_running(app, line.options, texts);
    add_times(app, texts);
    add_export(app, line);
    add_formats(app, texts.saved);
    add_subcommands(app, line, texts);
    add_serve(app, line, texts.serve);
    add_convert(app, line, texts.saved);
    add_timeline(app, line, texts.saved);
    add_headers(app, line);
}

}  // namespace mlbcc
