// Which command takes which of the options that several have, and its help.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <CLI/CLI.hpp>

namespace mlbcc {

// Puts the options of `app` under their headings, and gives all commands their help. After all
// options are added.
void arrange_help(CLI::App& app);
std::shared_ptr<CLI::Formatter> help_formatter();  // before commands are added

// The first option of those that `arguments` name which the command that was chosen does not take:
// "--live"; "" where there is none. Options of a file (--config) are for whoever takes them.
std::string misplaced_option(const CLI::App& app, std::span<const std::string> arguments);

}  // namespace mlbcc
