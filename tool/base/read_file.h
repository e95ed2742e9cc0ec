// A path to the whole text of a file, or to the reason why there is none, in words for the user.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace mlbcc {

// Errors: missing, not permitted, a directory, longer than `max_bytes` (its size and the limit are
// named). A pipe is read to its end, so `--rules <(generate)` works.
Result<std::string> read_file(const std::string& path, size_t max_bytes);
// Of one that is open, from where it is read next. `path` is for messages.
Result<std::string> read_file(int fd, const std::string& path, size_t max_bytes);

}  // namespace mlbcc
