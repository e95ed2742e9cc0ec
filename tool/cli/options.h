// The options of all commands, as CLI11 has them.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command_line.h"
#include "cli/saved.h"
#include "cli/serve.h"

namespace mlbcc {

struct Texts {  // options that CLI11 takes as text and are read afterwards
    std::string duration, reload_wait, open_wait, refresh, buffer, attach = "auto", folded_by,
                                                                   fail_on;
    std::vector<std::string> rules;  // -e
    std::vector<std::string> pids, pids_of;
    SavedTexts saved;
    ServeTexts serve;
    int output_fd = -1;  // none
    std::vector<std::string> print_types;
    std::string print_min;
    bool prints = false;
    bool quiet = false, verbose = false, no_realtime = false, no_cache = false;
};
void add_all(CLI::App& app, CommandLine& line, Texts& texts);

}  // namespace mlbcc
