// How a program that is traced, or will be, sees files: where its loader looks for libraries, what
// it has loaded, and below which root.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/proc.h"

namespace mlbcc::process {

struct ProcessView {
    int pid = 0;                            // 0: not started yet
    std::string root;                       // "" where it is ours, else "/proc/12/root"
    std::vector<std::string> library_path;  // folders of LD_LIBRARY_PATH, absolute
    std::vector<std::string> path;          // folders of PATH, absolute
    std::vector<std::string> environment;   // "NAME=value"
    std::string program_folder;             // of its file, as it was called; "" where unknown
    std::vector<Mapping> mapped;            // executable mappings of files, each file once
};

// A command that will be started with `environment` ("NAME=value") in `working_directory`; without
// `program`, its name or path, nothing is known of its file.
ProcessView view_of_command(const std::vector<std::string>& environment,
                            const std::string& working_directory, const std::string& program = {});

// "$HOME/lib/libx.so" -> "/home/me/lib/libx.so": a variable of its environment, or $COMMAND_DIR,
// the folder of its program. Nullopt where there is no such variable; other names as they are.
std::optional<std::string> expanded(const ProcessView& view, std::string_view name);

// A process that runs. Errors: it is not there, or not ours to look at.
Result<ProcessView> view_of_process(int pid);

// The path by which we reach a mapped file, even if it was deleted or is covered by now.
std::string path_of_mapping(const ProcessView& view, const Mapping& mapping);

}  // namespace mlbcc::process
