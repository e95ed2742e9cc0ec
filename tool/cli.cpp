#include "cli.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli_saved.h"
#include "cli_serve.h"
#include "cli_units.h"

namespace mlbcc {
namespace {

constexpr const char* kDescription =
    "Usage: mlbcc --rules FILE|NAME [OPTIONS] -- COMMAND [ARG]...\n"
    "       mlbcc --rules FILE|NAME [OPTIONS] --pid N | --all\n"
    "       mlbcc check|list|explain|emit --rules FILE|NAME [OPTIONS]\n"
    "       mlbcc report FILE\n"
    "       mlbcc timeline FILE [--from 1.5s] [--to 2s] [--type GLOB] [--name GLOB]\n"
    "       mlbcc convert FILE --to chrome|perfetto|folded|csv|html [-o FILE]\n"
    "       mlbcc profile [options] [--json FILE] [--fail-on high] -- COMMAND [ARGS]\n"
    "       mlbcc top [--rules FILE|NAME] [options] --pid N | -- COMMAND [ARGS]\n"
    "       mlbcc serve [options] [--interval 5s] [--json FILE] --pid N | -- COMMAND [ARGS]\n"
    "       mlbcc doctor [--rules FILE|NAME] [--json]\n"
    "       mlbcc headers [--json] [--link] [--synthesize DIR]\n"
    "\n"
    "Traces the functions of libraries in running programs, as rules say, without changing them.\n"
    "\n"
    "  mlbcc --rules cuda -- python3 app.py       start a program and trace it and its children\n"
    "  mlbcc --rules cuda --pid 1234              trace a running one; Ctrl-C ends the trace\n"
    "  mlbcc list --rules cuda 'cuMem*'           what a pattern matches on this machine";

constexpr const char* kFooter =
    "Rules are files (my.rules) or the names of bundled ones (cuda). A rule file of three lines:\n"
    "\n"
    "  library c = \"libc.so.6\"\n"
    "  void *malloc(size_t size);\n"
    "  on c:malloc { hist size   sum size as \"Memory asked for\" }\n"
    "\n"
    "The events go to a file of JSON lines (-o), a summary to the terminal. Exit status: the "
    "traced\n"
    "command's own (128+n if a signal n ended it); 1 if the tracer or the machine failed; 2 if "
    "the\n"
    "command line or the rules are wrong. The manual: man mlbcc, or docs/ in the source tree.";

struct Texts {  // options that CLI11 takes as text and are read afterwards
    std::string duration, reload_wait, open_wait, refresh, buffer, attach = "auto", folded_by,
                                                                   fail_on;
    SavedTexts saved;
    ServeTexts serve;
    bool quiet = false, verbose = false, no_realtime = false, no_cache = false;
};

void add_options(CLI::App& app, CommandLine& line, Texts& texts) {
    trace::TraceOptions& o = line.options;
    app.add_option("-r,--rules", o.rules.rules,
                   "Rule file, or the name of a bundled one; may be given again")
        ->type_name("FILE|NAME")
        ->allow_extra_args(false);
    app.add_option(
           "-o,--output", o.output,
           "Trace file (JSON lines); - is standard output; default traces/trace_<time>.jsonl")
        ->type_name("FILE");
    app.add_option("--folded", o.folded,
                   "Write the events' stacks for a flame graph to this file, at the end")
        ->type_name("FILE");
    app.add_option("--folded-by", texts.folded_by,
                   "What stacks are weighed by: events, or duration in microseconds")
        ->check(CLI::IsMember({"events", "duration"}));
    app.add_option("-p,--pid", o.pids,
                   "Trace this running process, its threads and children; may be given again")
        ->type_name("N")
        ->allow_extra_args(false);
    app.add_flag("--all", o.everyone, "Trace every process");
    app.add_option("-d,--duration", texts.duration, "End the trace after this time")
        ->type_name("5s");
    app.add_option("--user", o.user, "Run the command as this user")->type_name("NAME");
    app.add_flag("--root", o.keep_root,
                 "Under sudo, run the command as root, not as the invoking user");
    app.add_option("--attach", texts.attach, "How probes attach: auto, session, multi or perf")
        ->check(CLI::IsMember({"auto", "session", "multi", "perf"}));
    app.add_option(
           "--headers", o.rules.headers,
           "Where the kernel's structures are known from: auto, btf, or a folder of headers")
        ->type_name("auto|btf|DIR");
    app.add_flag("--exact-entry", o.rules.exact_entry,
                 "Probe the very first byte of each function, even where that is dear");
    app.add_flag("--late-anywhere", o.rules.late_anywhere,
                 "Wait for libraries of optional rules by their file's name, in whatever folder");
    app.add_flag("--mangled", o.rules.keep_mangled,
                 "Show names of C++ functions as the compiler writes them");
    app.add_option("--buffer", texts.buffer, "Size of the event buffer of each CPU; default 16MiB")
        ->type_name("SIZE");
    app.add_flag("--no-cache", texts.no_cache, "Compile anew, and keep nothing for the next start");
    app.add_flag("--watch", o.rules.watch,
                 "Take changes of the rule files, their headers and the templates over while "
                 "tracing");
    app.add_flag("--reloadable", o.reloadable,
                 "Read the rules anew at SIGHUP; --watch does so, too");
    app.add_flag("--no-realtime", texts.no_realtime, "Read events at normal priority");
    app.add_option("--templates", o.rules.templates,
                   "Folder of BPF C templates, besides the installed ones and before them")
        ->type_name("DIR");
    app.add_option("--keep", o.keep,
                   "Keep all that a bug report needs in this folder: trace, check --compile, emit")
        ->type_name("DIR");
    app.add_flag("--live", o.live, "Fill the terminal with what was counted so far, while tracing");
    app.add_flag("-q,--quiet", texts.quiet, "No summary, no notes: errors only");
    app.add_flag("-v,--verbose", texts.verbose, "Tell how long each step takes");
}

void add_times(CLI::App& app, Texts& texts) {
    app.add_option("--reload-wait", texts.reload_wait,
                   "How long calls that are open when the rules change are waited for; default 2s")
        ->type_name("2s");
    app.add_option("--open-wait", texts.open_wait,
                   "For how long at most a program is held that opens an awaited library, if mlbcc "
                   "does not answer; default 20s")
        ->type_name("20s");
    app.add_option("--refresh", texts.refresh,
                   "How often the live view, or the line of a profile, is drawn; default 1s, 250ms")
        ->type_name("1s");
}

void add_export(CLI::App& app, CommandLine& line) {
    app.add_option("--prometheus", line.options.prometheus,
                   "While tracing, serve the numbers to Prometheus here; without an address, to "
                   "this machine alone")
        ->type_name("[ADDR]:PORT");
    app.add_option("--otlp", line.options.otlp,
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
    emit->add_flag("--annotate", line.emit.annotate, "With the rules' text above what does it");
    emit->add_flag("--asm", line.emit.assembly,
                   "The BPF instructions, with their lines of C and of the rules");
    add("top", "Trace with a live view: --live, of rules cuda unless others are given",
        Command::top);
    CLI::App* report = add("report", "Summarise a saved trace", Command::report);
    add_report_options(*report, line, texts.saved);
    CLI::App* profile = add("profile", "Trace a job and say what it did", Command::profile);
    for (CLI::App* sub : {profile, report}) {
        sub->add_option("--json", line.options.report_json, "Write it to this file, as JSON")
            ->type_name("FILE");
        sub->add_option("--fail-on", texts.fail_on,
                        "End with status 97 if the profile has a finding so severe")
            ->check(CLI::IsMember({"low", "medium", "high"}));
    }
    profile
        ->add_option("--marks", line.options.marks,
                     "Each line written to this descriptor begins a phase of that name")
        ->type_name("FD")
        ->check(CLI::NonNegativeNumber);
    profile->add_flag("!--no-progress", line.options.progress,
                      "Do not show on the terminal what the job is at");
    add("doctor", "Say whether tracing works on this machine, and what repairs it", Command::doctor)
        ->add_flag("--json", line.json, "As JSON");
}

void add_headers(CLI::App& app, CommandLine& line) {
    CLI::App* sub = app.add_subcommand(
        "headers", "Show what describes the running kernel's structures here, and what is used");
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

constexpr std::chrono::milliseconds kShortest{10};  // as often as a terminal bears

// Nothing where the text is none: the default stays.
template <typename Duration> int read_duration(const std::string& text, Duration& into) {
    if (text.empty()) return 0;
    auto read = parse_duration(text);
    if (!read) return not_a_duration(text);
    into = *read;
    return 0;
}

int read_times(const Texts& texts, trace::TraceOptions& o) {
    for (int status : {read_duration(texts.duration, o.duration),
                       read_duration(texts.reload_wait, o.reload_wait),
                       read_duration(texts.open_wait, o.rules.open_wait),
                       read_duration(texts.refresh, o.refresh)}) {
        if (status != 0) return status;
    }
    if (!o.refresh || *o.refresh >= kShortest) return 0;
    return usage_error(fmt::format("`{}` is too short for --refresh", texts.refresh),
                       "write 10ms or more");
}

int read_texts(const Texts& texts, trace::TraceOptions& o, bool writes_folded) {
    if (int status = read_times(texts, o); status != 0) return status;
    o.reloadable |= o.rules.watch;
    if (!texts.buffer.empty()) {
        auto size = parse_size(texts.buffer);
        if (!size)
            return usage_error(fmt::format("`{}` is not a size", texts.buffer),
                               "write 16MiB or 512KiB; at most 4GiB");
        o.buffer_bytes = *size;
    }
    if (texts.attach == "session") o.rules.attach = codegen::AttachMode::session;
    if (texts.attach == "multi") o.rules.attach = codegen::AttachMode::multi;
    if (texts.attach == "perf") o.rules.attach = codegen::AttachMode::perf;
    if (!texts.folded_by.empty() && o.folded.empty() && !writes_folded)
        return usage_error("--folded-by says how --folded FILE is written", "add --folded FILE");
    o.fail_on = report::severity_of(texts.fail_on);
    o.folded_by_duration = texts.folded_by == "duration";
    o.realtime = !texts.no_realtime;
    o.rules.use_cache = !texts.no_cache;
    if (texts.quiet) o.verbosity = trace::Verbosity::quiet;
    if (texts.verbose) o.verbosity = trace::Verbosity::verbose;
    return 0;
}

bool is_same_file(const std::string& a, const std::string& b) {
    std::error_code code;
    return a == b ||
           (std::filesystem::is_regular_file(b, code) && std::filesystem::equivalent(a, b, code));
}

int check_use(const CommandLine& line) {
    const trace::TraceOptions& o = line.options;
    bool lists_pattern =
        line.command == Command::list && line.pattern.find(':') != std::string::npos;
    bool needs_rules = line.command != Command::report && line.command != Command::convert &&
                       line.command != Command::timeline && line.command != Command::doctor &&
                       line.command != Command::headers && line.command != Command::profile &&
                       line.command != Command::serve && !lists_pattern;
    if (needs_rules && o.rules.rules.empty()) {
        return usage_error("no rules are given",
                           "add --rules FILE, or the name of a bundled file: --rules cuda");
    }
    const bool reads_input = line.command == Command::report && line.file == "-";
    const std::string other = reads_input                       ? ""
                              : line.command == Command::report ? line.file
                                                                : o.output;
    if (line.command == Command::convert && line.file != "-" && is_same_file(o.output, line.file))
        return usage_error(fmt::format("convert would overwrite {}", line.file),
                           "name another file with -o");
    if (!o.folded.empty() && is_same_file(o.folded, other))
        return usage_error(fmt::format("--folded would overwrite {}", other));
    if (!o.report_json.empty() && is_same_file(o.report_json, other))
        return usage_error(fmt::format("--json would overwrite {}", other));
    const bool traces = line.command == Command::trace || line.command == Command::profile ||
                        line.command == Command::serve || line.command == Command::top;
    if (o.live && (!traces || line.command == Command::serve))
        return usage_error("--live is for a trace or a profile", "leave it out");
    if (!o.prometheus.empty() && !traces)
        return usage_error("--prometheus is for a trace", "leave it out");
    if (!o.otlp.empty() && !traces) return usage_error("--otlp is for a trace", "leave it out");
    bool can_keep =
        traces || line.command == Command::emit || (line.command == Command::check && line.compile);
    if (!o.keep.empty() && !can_keep)
        return usage_error("--keep is for a trace, `check --compile` and `emit`");
    if (line.emit.annotate && line.emit.assembly)
        return usage_error("--annotate is of C, and --asm prints instructions",
                           "leave one out: --asm names the rules, too");
    if (!o.formats.empty() && !traces)
        return usage_error("--format is for a trace", "`mlbcc convert` has --to");
    if (!o.formats.empty() && (o.output == "-" || (o.serves && o.output.empty())))
        return usage_error("--format needs a trace file", "name one with -o FILE");
    if (!traces) return 0;
    int targets = (o.command.empty() ? 0 : 1) + (o.pids.empty() ? 0 : 1) + (o.everyone ? 1 : 0);
    if (targets == 0) {
        return usage_error("nothing to trace", "add `-- COMMAND`, --pid N, or --all");
    }
    if (o.everyone && targets > 1) return usage_error("--all already covers every process");
    if (!o.command.empty() && !o.pids.empty()) {
        return usage_error("a command and --pid cannot be traced together",
                           "run mlbcc once for each");
    }
    for (int pid : o.pids) {
        if (pid <= 0) return usage_error(fmt::format("{} is not a process id", pid));
    }
    return 0;
}

}  // namespace

Parsed parse_command_line(int argc, char** argv) {
    CommandLine line;
    Texts texts;
    char** end = argv + argc;
    char** dashes =
        std::find_if(argv + 1, end, [](const char* arg) { return std::strcmp(arg, "--") == 0; });
    if (dashes != end) line.options.command.assign(dashes + 1, end);

    CLI::App app(kDescription, "mlbcc");
    app.footer(kFooter);
    app.set_version_flag("-V,--version", "mlbcc " MLBCC_VERSION);
    app.require_subcommand(0, 1);
    app.set_config("--config", "",
                   "Options from this file (TOML); those of a subcommand in a section of its name")
        ->type_name("FILE");
    app.allow_config_extras(CLI::config_extras_mode::error);
    add_options(app, line, texts);
    add_times(app, texts);
    add_export(app, line);
    add_formats(app, texts.saved);
    add_subcommands(app, line, texts);
    add_serve(app, line, texts.serve);
    add_convert(app, line, texts.saved);
    add_timeline(app, line, texts.saved);
    add_headers(app, line);
    try {
        app.parse(static_cast<int>(dashes - argv), argv);
    } catch (const CLI::CallForHelp&) {
        fmt::print("{}", app.help());
        return {};
    } catch (const CLI::CallForVersion&) {
        fmt::print("mlbcc {}\n", MLBCC_VERSION);
        return {};
    } catch (const CLI::ParseError& e) {
        return {
            {},
            usage_error(e.what(), "mlbcc --help lists the options; a command goes behind `--`")};
    }
    if (int status = read_saved(texts.saved, line); status != 0) return {{}, status};
    bool writes_folded =
        line.command == Command::convert && line.convert.to == trace::ViewFormat::folded;
    if (int status = read_texts(texts, line.options, writes_folded); status != 0)
        return {{}, status};
    if (int status = read_serve(texts.serve, line.options.serve); status != 0) return {{}, status};
    if (line.command == Command::top) {
        line.options.live = true;
        if (line.options.rules.rules.empty()) line.options.rules.rules.emplace_back("cuda");
    }
    if (int status = check_use(line); status != 0) return {{}, status};
    return {std::move(line), 0};
}

}  // namespace mlbcc
