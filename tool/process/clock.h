// The clock that records have, and how it lies to that of the wall.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mlbcc::process {

// CLOCK_MONOTONIC as programs in the kernel have it: without what a time namespace adds to it.
uint64_t monotonic_ns();
// When monotonic_ns() was 0, since 1970.
uint64_t epoch_ns();

// Until then, at most `most_ms`; 0 if it is past.
inline int ms_until(uint64_t then_ns, uint64_t now_ns, int most_ms) {
    if (then_ns <= now_ns) return 0;
    uint64_t left_ms = (then_ns - now_ns + 999'999) / 1'000'000;
    return static_cast<int>(std::min<uint64_t>(left_ms, static_cast<uint64_t>(most_ms)));
}

}  // namespace mlbcc::process
