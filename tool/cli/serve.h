// Options of `mlbcc serve`.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "cli/command_line.h"

namespace mlbcc {

struct ServeTexts {  // what CLI11 takes as text
    std::string interval, min_duration, timeout, sample, marker;
};
void add_serve(CLI::App& app, CommandLine& line, ServeTexts& texts);
// After parsing. Returns the status of a mistake, or 0.
int read_serve(const ServeTexts& texts, session::ServeOptions& serve);

}  // namespace mlbcc
