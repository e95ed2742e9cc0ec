// How many groups one count, sum or hist has, at most.
#pragma once

#include <cstdint>

namespace mlbcc::groups {

// Hists at tracepoints and functions of the kernel have theirs made beforehand.
inline constexpr uint32_t kMost = 10240, kMostOfReadyHists = 1024;

}  // namespace mlbcc::groups
