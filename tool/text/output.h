// What the tool says, on standard output and standard error. Neither has to take it: what standard
// error does not take is gone, and of standard output one learns it at the end.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/result.h"

namespace mlbcc {

void write_output(std::string_view text);
void write_error(std::string_view text);

// Errors: something that was written to standard output did not arrive.
Result<void> finish_output();

template <class... Args> void print_output(fmt::format_string<Args...> format, Args&&... args) {
    write_output(fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args> void print_error(fmt::format_string<Args...> format, Args&&... args) {
    write_error(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace mlbcc
