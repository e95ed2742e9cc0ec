// How values are kept in records, keys of groups and frames.
#pragma once

#include <cstdint>

#include "plan/plan.h"

namespace mlbcc::plan {

ValueType value_type(const rules::Typed& value);
uint32_t stored_size(const rules::Typed& value);  // bytes

}  // namespace mlbcc::plan
