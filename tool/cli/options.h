// The options of all commands, as CLI11 has them. What is read as a value of its own is in place
// when parsing ends; what must be known of several options together is for command_line.cpp.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command_line.h"
#include "terminal/live_text.h"

namespace mlbcc {

struct Texts {                       // what others must be known for
    std::vector<std::string> rules;  // -e
    bool prints = false;             // --print, or a filter without it:
    terminal::LiveFilter filter;
};
void add_all(CLI::App& app, CommandLine& line, Texts& texts);

// Options of the commands that read a saved trace, and the forms that they and others write.
void add_report_options(CLI::App& report, CommandLine& line);
void add_formats(CLI::App& app, CommandLine& line);
void add_convert(CLI::App& convert, CommandLine& line);
void add_timeline(CLI::App& timeline, CommandLine& line);
void add_serve(CLI::App& serve, CommandLine& line);

}  // namespace mlbcc
