// A file of the kernel's that is better not held in memory as a whole, line by line.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mlbcc::files {

// Calls `line` with each line, without its newline. Lines of more than 64 KiB are left out.
Result<void> read_lines(const std::string& path, const std::function<void(std::string_view)>& line);

}  // namespace mlbcc::files
