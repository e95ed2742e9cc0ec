#include "cli/commands.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/result.h"
#include "doctor/doctor.h"

namespace mlbcc {
namespace {

// In the order of the help.
constexpr CommandInfo kCommands[] = {
    {Command::trace, Depth::trace, "", "", "", "",
     [](const CommandLine& line) { return commands::run_trace(line.options); }},
    {Command::check, Depth::programs, "check", "Check rules and their C types, without tracing",
     "FILE.rules | --rules NAME", "mlbcc check my.rules\n  mlbcc check --compile --rules cuda",
     [](const CommandLine& line) { return commands::run_check(line.options, line.compile); }},
    {Command::list, Depth::plan, "list",
     "Show what a pattern, or each rule, matches on this machine",
     "[FILE.rules | --rules NAME] [PATTERN]",
     "mlbcc list --rules cuda 'cuMem*'\n  mlbcc list 'libc.so.6:mal*'",
     [](const CommandLine& line) {
         return commands::run_list(line.options.rules, line.options.verbosity, line.pattern);
     }},
    {Command::explain, Depth::plan, "explain",
     "Show what is read where, where each probe goes, and why",
     "FILE.rules | --rules NAME [PATTERN]",
     "mlbcc explain my.rules\n  mlbcc explain --rules cuda 'cuMem*'",
     [](const CommandLine& line) {
         return commands::run_explain(line.options.rules, line.options.verbosity, line.pattern);
     }},
    {Command::emit, Depth::programs, "emit", "Print the generated BPF C",
     "FILE.rules | --rules NAME", "mlbcc emit my.rules\n  mlbcc emit --annotate --rules cuda",
     [](const CommandLine& line) { return commands::run_emit(line.options, line.emit); }},
    {Command::top, Depth::trace, "top",
     "Trace with a live view: --live; its rules are cuda, unless others are given",
     "--pid N | -- COMMAND [ARG]...",
     "mlbcc top --pid 4711\n  mlbcc top --rules io -- python3 app.py",
     [](const CommandLine& line) { return commands::run_trace(line.options); }},
    {Command::report, Depth::saved_trace, "report", "Summarise a saved trace", "FILE",
     "mlbcc report trace.jsonl\n  mlbcc report --top 5 --type memory trace.jsonl",
     [](const CommandLine& line) {
         return commands::run_report(line.file,
                                     line.shows_calls ? std::optional(line.calls) : std::nullopt,
                                     line.options.output, line.options.verbosity);
     }},
    {Command::profile, Depth::trace, "profile", "Trace a job and say what it did",
     "-- COMMAND [ARG]...",
     "mlbcc profile -- python3 train.py\n"
     "  mlbcc profile --json profile.json --fail-on high -- python3 train.py",
     [](const CommandLine& line) { return commands::run_profile(line.options, line.profile); }},
    {Command::rules, Depth::machine, "rules",
     "List the bundled rules: what each is for, and where they are", "",
     "mlbcc rules\n  mlbcc rules | grep GPU",
     [](const CommandLine& line) { return commands::run_rules(line.options.rules); }},
    {Command::doctor, Depth::programs, "doctor",
     "Check whether tracing works on this machine, and how to fix it", "",
     "mlbcc doctor\n  mlbcc doctor --json --rules cuda",
     [](const CommandLine& line) { return doctor::run_doctor(line.options, line.json); }},
    {Command::serve, Depth::trace, "serve", "Where the time of a server's requests goes",
     "--pid N | -- COMMAND [ARG]...",
     "mlbcc serve --pid $(pgrep -o gunicorn)\n  mlbcc serve --interval 5s -- python3 server.py",
     [](const CommandLine& line) { return commands::run_serve(line.options, line.serve); }},
    {Command::convert, Depth::saved_trace, "convert", "Convert a saved trace for another program",
     "--to FORM FILE",
     "mlbcc convert --to html -o trace.html trace.jsonl\n"
     "  mlbcc convert --to perfetto -o trace.pftrace trace.jsonl",
     [](const CommandLine& line) {
         return commands::run_convert(line.file, line.convert, line.options.verbosity);
     }},
    {Command::timeline, Depth::saved_trace, "timeline", "Draw a saved trace on the terminal",
     "FILE", "mlbcc timeline trace.jsonl\n  mlbcc timeline --from 1.5s --to 2s trace.jsonl",
     [](const CommandLine& line) {
         return commands::run_timeline(line.file, line.timeline, line.options.verbosity);
     }},
    {Command::headers, Depth::machine, "headers",
     "List the sources of the running kernel's structures, and the one in use", "",
     "mlbcc headers\n  mlbcc headers --synthesize /tmp/headers",
     [](const CommandLine& line) {
         return commands::run_headers(line.options.rules, line.headers);
     }},
};

constexpr uint32_t bit(Command command) {
    return static_cast<uint32_t>(command);
}

constexpr uint32_t from(Depth least) {
    uint32_t commands = 0;
    for (const CommandInfo& one : kCommands) commands |= one.depth >= least ? bit(one.command) : 0;
    return commands;
}

constexpr uint32_t kTrace = bit(Command::trace), kReport = bit(Command::report),
                   kConvert = bit(Command::convert), kCheck = bit(Command::check),
                   kEmit = bit(Command::emit), kDoctor = bit(Command::doctor),
                   kTracing = from(Depth::trace), kCompiling = from(Depth::programs),
                   kReadingRules = from(Depth::plan), kAll = ~0u,
                   kDrawn = kTrace | bit(Command::top) | bit(Command::profile);

struct SharedOption {
    std::string_view name;
    const char* heading;
    uint32_t commands;
};
constexpr const char *kWhat = "What to trace", *kRulesHeading = "Rules", *kProbes = "Probes",
                     *kOutput = "Output", *kWhile = "While tracing", *kOther = "General";
constexpr const char* kHeadings[] = {kWhat, kRulesHeading, kProbes, kOutput, kWhile, kOther};
constexpr SharedOption kShared[] = {
    {"pid", kWhat, kTracing | kDoctor},
    {"pid-of", kWhat, kTracing | kDoctor},
    {"all", kWhat, kTracing | kCheck | kEmit},
    {"duration", kWhat, kTracing},
    {"user", kWhat, kTracing},
    {"root", kWhat, kTracing},
    {"rules", kRulesHeading, kReadingRules},
    {"rules-text", kRulesHeading, kReadingRules},
    {"headers", kRulesHeading, kReadingRules | bit(Command::headers)},
    {"templates", kRulesHeading, kReadingRules},
    {"mangled", kRulesHeading, kReadingRules},
    {"late-anywhere", kRulesHeading, kReadingRules},
    {"attach", kProbes, kReadingRules},
    {"exact-entry", kProbes, kReadingRules},
    {"no-cache", kProbes, kReadingRules},
    {"buffer", kProbes, kCompiling},
    {"open-wait", kProbes, kTracing},
    {"no-realtime", kProbes, kTracing},
    {"output", kOutput, kTracing | kConvert | kDoctor},
    {"output-fd", kOutput, kTracing},
    {"format", kOutput, kTracing},
    {"folded", kOutput, kTracing | kReport},
    {"folded-by", kOutput, kTracing | kReport | kConvert},
    {"keep", kOutput, kTracing | kCheck | kEmit},
    {"prometheus", kOutput, kTracing},
    {"otlp", kOutput, kTracing},
    {"print", kWhile, kTrace},
    {"print-type", kWhile, kTrace},
    {"print-min", kWhile, kTrace},
    {"live", kWhile, kDrawn},
    {"refresh", kWhile, kDrawn},
    {"watch", kWhile, kTracing},
    {"reloadable", kWhile, kTracing},
    {"reload-wait", kWhile, kTracing},
    {"quiet", kOther, kAll},
    {"verbose", kOther, kAll},
    {"config", kOther, kAll},
    {"version", kOther, kTrace},
    {"help", kOther, kTrace},  // commands have their own
};

const SharedOption* shared(const CLI::Option& option) {
    const auto found = std::ranges::find_if(kShared, [&](const SharedOption& one) {
        return option.check_lname(std::string(one.name));
    });
    return found == std::end(kShared) ? nullptr : found;
}

// The program itself has a name, and no entry by it.
const CommandInfo& command_of(const CLI::App& app) {
    const auto found = std::ranges::find_if(
        kCommands, [&](const CommandInfo& one) { return app.get_name() == one.name; });
    return found == std::end(kCommands) ? info(Command::trace) : *found;
}

// The options of `app` under this heading that the command takes.
std::vector<const CLI::Option*> options_for(const CLI::App& app, const std::string& heading,
                                            uint32_t command) {
    return app.get_options([&](const CLI::Option* option) {
        const SharedOption* one = shared(*option);
        return option->nonpositional() && option->get_group() == heading && one != nullptr &&
               (one->commands & command) != 0;
    });
}

class HelpFormatter : public CLI::Formatter {
public:
    HelpFormatter() { column_width(30); }

    std::string make_help(const CLI::App* app, std::string /*name*/,
                          CLI::AppFormatMode mode) const override {
        const CommandInfo& command = command_of(*app);
        std::string text = make_description(app);
        if (command.command == Command::trace)  // its description has the usage
            return text + shared_groups(*app, kTrace) + make_subcommands(app, mode) + "\n" +
                   make_footer(app);
        text += fmt::format("\nUsage: mlbcc {} [OPTIONS]{}{}\n", command.name,
                            *command.usage == '\0' ? "" : " ", command.usage);
        text += make_positionals(app) + make_groups(app, mode) +
                shared_groups(*app->get_parent(), bit(command.command));
        return text + fmt::format("\nExamples:\n  {}\n", command.examples);
    }

private:
    std::string shared_groups(const CLI::App& program, uint32_t command) const {
        std::string text;
        for (const char* heading : kHeadings) {
            const auto options = options_for(program, heading, command);
            if (!options.empty()) text += make_group(heading, false, options);
        }
        return text;
    }
};

// "--live", "--live=...", "-d5s"
bool names(const std::string& argument, const CLI::Option& option) {
    const std::string name = argument.substr(0, argument.find('='));
    if (argument.starts_with("--")) return option.check_lname(name.substr(2));
    return argument.size() > 1 && argument[0] == '-' && option.check_sname(argument.substr(1, 1));
}

}  // namespace

const CommandInfo& info(Command command) {
    return *std::ranges::find(kCommands, command, &CommandInfo::command);
}

const CommandInfo& chosen_command(const CLI::App& app) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    return command_of(chosen.empty() ? app : *chosen.front());
}

void add_commands(CLI::App& app) {
    for (const CommandInfo& one : kCommands) {
        if (one.command != Command::trace)
            app.add_subcommand(one.name, one.sentence)->fallthrough();
    }
}

std::shared_ptr<CLI::Formatter> help_formatter() {
    return std::make_shared<HelpFormatter>();
}

void arrange_help(CLI::App& app) {
    for (CLI::Option* option : app.get_options()) {
        if (!option->nonpositional()) continue;
        const SharedOption* one = shared(*option);
        MLBCC_CHECK(one != nullptr);  // kShared lacks it
        option->group(one->heading);
    }
}

std::string misplaced_option(const CLI::App& app, std::span<const std::string> arguments) {
    const uint32_t command = bit(chosen_command(app).command);
    for (const CLI::Option* option : app.get_options()) {
        const SharedOption* one = shared(*option);
        if (one == nullptr || option->count() == 0 || (one->commands & command) != 0) continue;
        if (std::ranges::any_of(arguments, [&](const auto& text) { return names(text, *option); }))
            return "--" + std::string(one->name);
    }
    return {};
}

}  // namespace mlbcc
