// Which processes --pid and --pid-of mean.
#pragma once

#include <string>
#include <vector>

namespace mlbcc {

// "4711", and names as `pidof` takes them: what /proc/PID/comm has, 15 characters of it. Appends to
// `pids`; returns the status of a mistake, or 0.
int read_pids(const std::vector<std::string>& numbers, const std::vector<std::string>& names,
              std::vector<int>& pids);

}  // namespace mlbcc
