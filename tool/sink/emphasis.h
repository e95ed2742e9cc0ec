// The text of a report as a terminal shows it: its title and its headings, which are the lines
// behind empty ones, are bold, and what was lost is red.
//
//   === TRACE SUMMARY ===  1.50 s, 1 process, 17 lost        ("=== ... ===" bold, "17 lost" red)
//
//   USERSPACE (libcuda.so.1)                                 (bold)
//     Kernel launches              42
#pragma once

#include <string>
#include <string_view>

namespace mlbcc::sink {

std::string emphasized(std::string_view text);

}  // namespace mlbcc::sink
