// How many groups one count, sum or hist has, at most.
#pragma once

#include <cstdint>

namespace mlbcc::plan {

// Hists at tracepoints and functions of the kernel have theirs made beforehand.
inline constexpr uint32_t kMostGroups = 10240, kMostReadyHistGroups = 1024;

}  // namespace mlbcc::plan
