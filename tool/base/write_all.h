// All of a text to a descriptor, however often the kernel takes only a part of it.
#pragma once

#include <string_view>

namespace mlbcc {

// False where that failed, with errno.
bool write_all(int fd, std::string_view text);

}  // namespace mlbcc
