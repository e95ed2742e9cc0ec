// Which processes --pid and --pid-of mean.
#pragma once

#include <string>
#include <vector>

namespace mlbcc {

// "4711" and names as `pidof` takes them: what /proc/PID/comm has, 15 characters of it. Each
// appends to `pids`, and ends parsing where it means no process.
void add_pids(const std::vector<std::string>& numbers, std::vector<int>& pids);
void add_pids_of(const std::vector<std::string>& names, std::vector<int>& pids);

}  // namespace mlbcc
