// Shell-style patterns over names: `*`, `?`, `[a-z]`, `[!x]` (also `[^x]`); everything else, a `[`
// that is not closed too, stands for itself.
#pragma once

#include <string>
#include <string_view>

namespace mlbcc {

bool glob_match(std::string_view pattern, std::string_view name);
bool is_glob(std::string_view pattern);  // has a character that glob_match treats specially

// A pattern that this text alone matches: "a[1]" -> "a[[]1]".
std::string escaped_glob(std::string_view text);

}  // namespace mlbcc
