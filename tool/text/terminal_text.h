// Text of traced programs, and of whoever sends something to them, as a terminal may have it: what
// would steer it, or turn other text around, and bytes that are no UTF-8 are shown by number.
//
//   "\x1b[31mred\n" (an escape code, a line end)   ->   \x1b[31mred\n (letters)
#pragma once

#include <string>
#include <string_view>

namespace mlbcc {

std::string on_terminal(std::string_view text);        // on one line
std::string lines_on_terminal(std::string_view text);  // line ends stay

}  // namespace mlbcc
