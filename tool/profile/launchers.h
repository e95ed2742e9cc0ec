// What started a job, told apart from the job: a shim that is a shell script, as pyenv's `python3`;
// a shell, `uv run`, `conda run`, which wait for the one process that works.
//
//   sh -c "python3 train.py"    ->  job: python3 train.py
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "profile/process_tree.h"

namespace mlbcc::profile {

struct Launchers {
    std::set<uint32_t> pids;             // of processes that are no part of the job
    uint64_t cpu_ns = 0;                 // of them
    std::vector<std::string> arguments;  // of what was started first; of a script its path alone
};

// Such are
//   * processes that ended before their parent took on the program that it ran to its end; where
//     they are three or more;
//   * parents of the process that used most CPU time, half a second or more, where they and all
//   else
//     that they started used less than a tenth of that; and what else they started.
Launchers launchers_of(const std::vector<ProcessLife>& lives);

}  // namespace mlbcc::profile
