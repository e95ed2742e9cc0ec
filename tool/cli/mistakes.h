// Mistakes on the command line, and what was probably meant.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace mlbcc {

// Tells a mistake; returns the status for it.
int usage_error(const std::string& message, const std::string& help = {});

// Whose own description is not in the help: what is allowed stands there otherwise.
inline CLI::Validator unsaid(CLI::Validator check) {
    return check.description("");
}

// What no option takes, `strays`, in the order of the command line `arguments`: a misspelt option
// or command or, of a command that traces and has no `--`, a program to trace without it.
int unexpected(const CLI::App& app, std::span<const std::string> strays,
               std::span<const std::string> arguments, bool traces, bool has_dashes);

}  // namespace mlbcc
