// Files that the user names to be written.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/unique_fd.h"

namespace mlbcc {

// Creates or empties the file, as the caller could (as_caller.h). In a folder where others may put
// what they like, no link is followed, and nothing of theirs is opened but plain files. None, and
// errno: ELOOP for a link, EPERM for what is left alone.
UniqueFd create_file(const std::string& path, mode_t mode);

// What can be done where that has failed with `code`; "" where that is clear.
std::string help_for_created(int code);

}  // namespace mlbcc
