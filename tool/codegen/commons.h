// The functions of the templates that programs share: libbcc makes programs of one function only.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace mlbcc::codegen {

// What declares them, for `source` from `from` on: a function `common_x` of it is called as
// `mlbcc_x`. Linked, it is called as a helper with a number that no helper has, which is added to
// `numbers`; the loader makes it a call of the function. Else it is inlined.
std::string declare_commons(const std::string& source, size_t from, bool linked,
                            std::map<uint32_t, std::string>& numbers);

}  // namespace mlbcc::codegen
