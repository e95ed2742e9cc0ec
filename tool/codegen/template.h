// Templates: text with {{slots}}.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/result.h"
#include "codegen/codegen.h"

namespace mlbcc::codegen {

using Slot = std::variant<std::string_view, const Source*>;  // a part of a line, or whole lines
using Slots = std::initializer_list<std::pair<std::string_view, Slot>>;

// The template behind a #line that names it, its slots filled. Every slot of the text must be
// given.
Result<Source> fill(const Templates& templates, std::string_view name, Slots slots = {});

}  // namespace mlbcc::codegen
