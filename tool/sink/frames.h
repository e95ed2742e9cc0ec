// Stacks as the summary shows them: one frame a line, innermost first.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sink/rows.h"

namespace mlbcc::sink {

// "libtorch.so:at::f<...>(...)+0x6f"
std::string short_frame(const std::string& frame);

// The innermost frame of Python's, or else of the program's: the place that its author knows.
std::optional<size_t> own_frame(const std::vector<std::string>& stack);

// At most `most` lines, "..." for what is left out: the innermost one or two, and then from the own
// frame on where the whole has no room.
void add_frames(Rows& rows, const std::vector<std::string>& stack, size_t most, size_t indent);

// "read+0x10 < app.py:step < app.py:main < ...": the function that waits, and behind it those of
// Python; without such the native ones.
std::string short_stack(const std::vector<std::string>& stack);

// The frames of a group's value, `["a","b"]`; empty of any other value.
std::vector<std::string> frames_of(std::string_view json);

}  // namespace mlbcc::sink
