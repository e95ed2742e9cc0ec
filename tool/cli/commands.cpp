#include "cli/commands.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "base/result.h"

namespace mlbcc {
namespace {

enum : uint32_t {
    kTrace = 1,  // the program itself, without a command of ours
    kTop = 2,
    kProfile = 4,
    kServe = 8,
    kCheck = 16,
    kList = 32,
    kExplain = 64,
    kEmit = 128,
    kDoctor = 256,
    kReport = 512,
    kConvert = 1024,
    kTimeline = 2048,
    kRules = 4096,
    kHeaders = 8192,
    kTracing = kTrace | kTop | kProfile | kServe,
    kCompiling = kTracing | kCheck | kEmit | kDoctor,
    kReadingRules = kCompiling | kList | kExplain,
    kAll = ~0u,
};

struct CommandHelp {
    uint32_t bit;
    const char *name, *usage, *examples;
};
constexpr CommandHelp kCommands[] = {
    {kTop, "top", "--pid N | -- COMMAND [ARG]...",
     "mlbcc top --pid 4711\n  mlbcc top --rules io -- python3 app.py"},
    {kProfile, "profile", "-- COMMAND [ARG]...",
     "mlbcc profile -- python3 train.py\n"
     "  mlbcc profile --json profile.json --fail-on high -- python3 train.py"},
    {kServe, "serve", "--pid N | -- COMMAND [ARG]...",
     "mlbcc serve --pid $(pgrep -o gunicorn)\n  mlbcc serve --interval 5s -- python3 server.py"},
    {kCheck, "check", "FILE.rules | --rules NAME",
     "mlbcc check my.rules\n  mlbcc check --compile --rules cuda"},
    {kList, "list", "[FILE.rules | --rules NAME] [PATTERN]",
     "mlbcc list --rules cuda 'cuMem*'\n  mlbcc list 'libc.so.6:mal*'"},
    {kExplain, "explain", "FILE.rules | --rules NAME [PATTERN]",
     "mlbcc explain my.rules\n  mlbcc explain --rules cuda 'cuMem*'"},
    {kEmit, "emit", "FILE.rules | --rules NAME",
     "mlbcc emit my.rules\n  mlbcc emit --annotate --rules cuda"},
    {kDoctor, "doctor", "", "mlbcc doctor\n  mlbcc doctor --json --rules cuda"},
    {kReport, "report", "FILE",
     "mlbcc report trace.jsonl\n  mlbcc report --top 5 --type memory trace.jsonl"},
    {kConvert, "convert", "--to FORM FILE",
     "mlbcc convert --to html -o trace.html trace.jsonl\n"
     "  mlbcc convert --to perfetto -o trace.pftrace trace.jsonl"},
    {kTimeline, "timeline", "FILE",
     "mlbcc timeline trace.jsonl\n  mlbcc timeline --from 1.5s --to 2s trace.jsonl"},
    {kRules, "rules", "", "mlbcc rules\n  mlbcc rules | grep GPU"},
    {kHeaders, "headers", "", "mlbcc headers\n  mlbcc headers --synthesize /tmp/headers"},
};

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
    {"headers", kRulesHeading, kReadingRules | kHeaders},
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
    {"live", kWhile, kTrace | kTop | kProfile},
    {"refresh", kWhile, kTrace | kTop | kProfile},
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

const CommandHelp* command_of(const CLI::App& app) {
    const auto found = std::ranges::find_if(
        kCommands, [&](const CommandHelp& one) { return app.get_name() == one.name; });
    return found == std::end(kCommands) ? nullptr : found;
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
        const CommandHelp* command = command_of(*app);
        std::string text = make_description(app);
        if (command == nullptr)  // its description has the usage
            return text + shared_groups(*app, kTrace) + make_subcommands(app, mode) + "\n" +
                   make_footer(app);
        text += fmt::format("\nUsage: mlbcc {} [OPTIONS]{}{}\n", command->name,
                            *command->usage == '\0' ? "" : " ", command->usage);
        text += make_positionals(app) + make_groups(app, mode) +
                shared_groups(*app->get_parent(), command->bit);
        return text + fmt::format("\nExamples:\n  {}\n", command->examples);
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
    for (const CLI::App* command : app.get_subcommands({}))
        MLBCC_CHECK(command_of(*command) != nullptr);
}

std::string misplaced_option(const CLI::App& app, std::span<const std::string> arguments) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    const uint32_t command = chosen.empty() ? kTrace : command_of(*chosen.front())->bit;
    for (const CLI::Option* option : app.get_options()) {
        const SharedOption* one = shared(*option);
        if (one == nullptr || option->count() == 0 || (one->commands & command) != 0) continue;
        if (std::ranges::any_of(arguments, [&](const auto& text) { return names(text, *option); }))
            return "--" + std::string(one->name);
    }
    return {};
}

}  // namespace mlbcc
