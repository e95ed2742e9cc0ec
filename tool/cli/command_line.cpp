#include "cli/command_line.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/as_caller.h"
#include "cli/commands.h"
#include "cli/mistakes.h"
#include "cli/options.h"
#include "files/trusted_files.h"
#include "text/output.h"
#include "text/tell.h"

namespace mlbcc {
namespace {

constexpr const char* kDescription =
    "Usage: mlbcc --rules FILE|NAME [OPTIONS] -- COMMAND [ARG]...\n"
    "       mlbcc --rules FILE|NAME [OPTIONS] --pid N | --all\n"
    "       mlbcc check|list|explain|emit --rules FILE|NAME [OPTIONS]\n"
    "       mlbcc rules\n"
    "       mlbcc report FILE\n"
    "       mlbcc timeline FILE [--from 1.5s] [--to 2s] [--type GLOB] [--name GLOB]\n"
    "       mlbcc convert FILE --to FORM [-o FILE]\n"
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

int set_print(const Texts& texts, session::TraceOptions& o) {
    if (!texts.prints && texts.filter.types.empty() && texts.filter.min_ns == 0) return 0;
    o.screen.print = texts.filter;
    if (o.screen.live) return usage_error("--print and --live both show the trace on the terminal");
    if (o.output.trace == "-")
        return usage_error("--print and -o - both write to standard output",
                           "write the trace to a file (-o FILE)");
    return 0;
}

// What stands for itself: -e's text, and standard input.
void read_given(const Texts& texts, load::RuleOptions& rules) {
    for (std::string& name : rules.rules) {
        if (name != "-") continue;
        name = "standard input";
        if (rules.given.contains(name)) continue;
        rules.given[name] = {std::istreambuf_iterator<char>(std::cin), {}};
    }
    for (const std::string& text : texts.rules) {
        std::string name = "-e";
        while (rules.given.contains(name)) name += "'";
        rules.rules.push_back(name);
        rules.given[name] = text;
    }
}

// Rule files need no option. What is left of `words` is what nothing takes.
void take_words(CommandLine& line, std::vector<std::string>& words) {
    if (!info(line.command).takes_rules()) return;
    const auto is_file = [](const std::string& word) { return word.ends_with(".rules"); };
    std::vector<std::string>& rules = line.options.rules.rules;
    if (is_file(line.pattern)) rules.push_back(std::exchange(line.pattern, {}));
    std::ranges::copy_if(words, std::back_inserter(rules), is_file);
    std::erase_if(words, is_file);
    const bool selects = line.command == Command::list || line.command == Command::explain;
    if (!selects || words.empty() || !line.pattern.empty()) return;
    line.pattern = words.front();
    words.erase(words.begin());
}

bool is_same_file(const std::string& a, const std::string& b) {
    std::error_code code;
    return a == b ||
           (std::filesystem::is_regular_file(b, code) && std::filesystem::equivalent(a, b, code));
}

// What a command writes, and what it is written with, would be mixed.
int check_standard_output(const session::TraceOptions& o) {
    if (o.targets.command.empty()) return 0;
    if (o.output.trace == "-")
        return usage_error("the trace (-o -) and the command both write to standard output",
                           "write it to a file (-o FILE), or to another descriptor: "
                           "mlbcc --output-fd 3 ... 3>trace.jsonl");
    if (o.output.report.json == "-")
        return usage_error("the report (--json -) and the command both write to standard output",
                           "write it to a file (--json FILE)");
    return 0;
}

int check_targets(const session::TargetOptions& whom) {
    const int targets =
        (whom.command.empty() ? 0 : 1) + (whom.pids.empty() ? 0 : 1) + (whom.everyone ? 1 : 0);
    if (targets == 0)
        return usage_error("nothing to trace",
                           "add `-- COMMAND`, --pid N, --pid-of NAME, or --all");
    if (whom.everyone && targets > 1) return usage_error("--all already covers every process");
    if (targets > 1)
        return usage_error("a command and --pid cannot be traced together",
                           "run mlbcc once for each");
    return 0;
}

int check_use(const CommandLine& line) {
    const session::OutputOptions& out = line.options.output;
    bool lists_pattern =
        line.command == Command::list && line.pattern.find(':') != std::string::npos;
    const bool has_its_own = line.command == Command::doctor || line.command == Command::profile ||
                             line.command == Command::serve;
    const bool needs_rules = info(line.command).takes_rules() && !has_its_own && !lists_pattern;
    if (needs_rules && line.options.rules.rules.empty()) {
        return usage_error(
            "no rules are given",
            "add --rules FILE, the name of a bundled file (--rules cuda; `mlbcc rules` "
            "lists them), or -e 'RULES'");
    }
    const bool reads_input = line.command == Command::report && line.file == "-";
    const std::string other = reads_input                       ? ""
                              : line.command == Command::report ? line.file
                                                                : out.trace;
    if (line.command == Command::convert && line.file != "-" && is_same_file(out.trace, line.file))
        return usage_error(fmt::format("convert would overwrite {}", line.file),
                           "name another file with -o");
    if (!out.folded.file.empty() && is_same_file(out.folded.file, other))
        return usage_error(fmt::format("--folded would overwrite {}", other));
    if (!out.report.json.empty() && is_same_file(out.report.json, other))
        return usage_error(fmt::format("--json would overwrite {}", other));
    if (!out.keep.empty() && line.command == Command::check && !line.compile)
        return usage_error("--keep is for a trace, `check --compile` and `emit`", "add --compile");
    if (line.emit.annotate && line.emit.assembly)
        return usage_error("--annotate and --asm cannot be combined",
                           "leave one out: --asm names the rules, too");
    const bool is_stream = out.trace == "-" || out.trace.starts_with("/dev/fd/");
    if (!out.formats.empty() &&
        (is_stream || (line.command == Command::serve && out.trace.empty())))
        return usage_error("--format needs a trace file", "name one with -o FILE");
    if (!info(line.command).traces()) return 0;
    if (int status = check_standard_output(line.options); status != 0) return status;
    return check_targets(line.options.targets);
}

// What follows from several options together.
int complete(const CLI::App& app, const Texts& texts, CommandLine& line) {
    session::TraceOptions& o = line.options;
    read_given(texts, o.rules);
    if (int status = set_print(texts, o); status != 0) return status;
    o.reload.at_signal |= o.rules.watch;
    const bool writes_folded =
        line.command == Command::convert && line.convert.to == session::ViewFormat::folded;
    if (app.count("--folded-by") > 0 && o.output.folded.file.empty() && !writes_folded)
        return usage_error("--folded-by says how --folded FILE is written", "add --folded FILE");
    line.convert.output = o.output.trace;
    line.convert.by_duration = o.output.folded.by_duration;
    if (line.command == Command::top) {
        o.screen.live = true;
        if (o.rules.rules.empty()) o.rules.rules.emplace_back("cuda");
    }
    return check_use(line);
}

// What it says is done with all rights: to run a command as root, to write a file.
std::string refusal_of_config(const std::string& path) {
    const auto admitted = files::TrustedFiles::current().admit(path);
    if (admitted) return {};
    const Error& error = admitted.error();
    return error.help.empty() ? error.message() : error.message() + " (" + error.help + ")";
}

}  // namespace

int run(const CommandLine& line) {
    const CommandInfo& command = info(line.command);
    if (command.depth != Depth::saved_trace) return command.run(line);
    // Saved traces are read, and their views written, with no more rights than the caller has.
    const auto as_caller = AsCaller::begin();
    return as_caller ? command.run(line) : tell(as_caller.error());
}

Parsed parse_command_line(int argc, char** argv) {
    CommandLine line;
    Texts texts;
    char** end = argv + argc;
    char** dashes =
        std::find_if(argv + 1, end, [](const char* arg) { return std::strcmp(arg, "--") == 0; });
    if (dashes != end) line.options.targets.command.assign(dashes + 1, end);

    CLI::App app(kDescription, "mlbcc");
    app.footer(kFooter);
    app.set_version_flag("-V,--version", "mlbcc " MLBCC_VERSION);
    app.require_subcommand(0, 1);
    app.set_config("--config", "",
                   "Options from this file (TOML); those of a subcommand in a section of its name")
        ->type_name("FILE")
        ->check(refusal_of_config);
    app.allow_config_extras(CLI::config_extras_mode::error);
    app.allow_extras();  // told of by unexpected()
    std::vector<std::string> words;
    app.add_option("words", words)->group("");
    app.formatter(help_formatter());
    add_all(app, line, texts);
    arrange_help(app);
    try {
        app.parse(static_cast<int>(dashes - argv), argv);
    } catch (const CLI::CallForHelp&) {
        print_output("{}", app.help());
        return {};
    } catch (const CLI::CallForVersion&) {
        print_output("mlbcc {}\n", MLBCC_VERSION);
        return {};
    } catch (const CLI::RuntimeError& e) {  // told already
        return {{}, e.get_exit_code()};
    } catch (const CLI::ParseError& e) {
        return {
            {},
            usage_error(e.what(), "mlbcc --help lists the options; a command goes behind `--`")};
    }
    line.command = chosen_command(app).command;
    take_words(line, words);
    for (const std::string& one : app.remaining(true)) words.push_back(one);
    const std::vector<std::string> arguments(argv + 1, dashes);
    if (!words.empty())
        return {{}, unexpected(app, words, arguments, info(line.command).traces(), dashes != end)};
    if (const std::string option = misplaced_option(app, arguments); !option.empty()) {
        const std::string command = "mlbcc " + app.get_subcommands().front()->get_name();
        return {{},
                usage_error(fmt::format("`{}` has no option `{}`", command, option),
                            fmt::format("{} --help lists its options", command))};
    }
    if (int status = complete(app, texts, line); status != 0) return {{}, status};
    return {std::move(line), 0};
}

}  // namespace mlbcc
