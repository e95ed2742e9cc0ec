// Options of the subcommands that read a saved trace.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command_line.h"

namespace mlbcc {

struct SavedTexts {  // what CLI11 takes as text
    std::string to, max_size, from, until;
    std::vector<std::string> formats;
    view::CallSelection calls;
    CLI::App* report = nullptr;
};
void add_report_options(CLI::App& report, CommandLine& line, SavedTexts& texts);
void add_formats(CLI::App& app, SavedTexts& texts);
void add_convert(CLI::App& app, CommandLine& line, SavedTexts& texts);
void add_timeline(CLI::App& app, CommandLine& line, SavedTexts& texts);
// After parsing. Returns the status of a mistake, or 0.
int read_saved(const SavedTexts& texts, CommandLine& line);

}  // namespace mlbcc
