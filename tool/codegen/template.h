// Templates: text with {{slots}}.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "codegen/codegen.h"

namespace mlbcc::codegen {

using Slots = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// The template behind a #line that names it, its slots filled. Every slot of the text must be
// given.
Result<std::string> fill(const Templates& templates, std::string_view name, Slots slots = {});

}  // namespace mlbcc::codegen
