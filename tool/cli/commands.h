// The table of commands, which command takes which of the options that several have, and the help
// of each.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/command_line.h"

namespace mlbcc {

// How far down the pipeline a command goes, and so what it takes.
enum class Depth {
    saved_trace,  // no further than the caller's rights
    machine,
    plan,      // rules
    programs,  // compiled and loaded
    trace      // attached
};

struct CommandInfo {
    Command command{};
    Depth depth{};
    const char *name, *sentence, *usage, *examples;
    int (*run)(const CommandLine& line);
    bool takes_rules() const { return depth >= Depth::plan; }
    bool traces() const { return depth == Depth::trace; }
};
const CommandInfo& info(Command command);
const CommandInfo& chosen_command(const CLI::App& app);  // once it has parsed

void add_commands(CLI::App& app);  // all but the program itself
// Puts the options of `app` under their headings, and gives all commands their help. After all
// options are added.
void arrange_help(CLI::App& app);
std::shared_ptr<CLI::Formatter> help_formatter();  // before commands are added

// The first option of those that `arguments` name which the command that was chosen does not take:
// "--live"; "" where there is none. Options of a file (--config) are for whoever takes them.
std::string misplaced_option(const CLI::App& app, std::span<const std::string> arguments);

}  // namespace mlbcc
