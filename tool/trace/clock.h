#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace mlbcc::trace {

inline uint64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Until then, at most `most_ms`; 0 if it is past.
inline int ms_until(uint64_t then_ns, uint64_t now_ns, int most_ms) {
    if (then_ns <= now_ns) return 0;
    uint64_t left_ms = (then_ns - now_ns + 999'999) / 1'000'000;
    return static_cast<int>(std::min<uint64_t>(left_ms, static_cast<uint64_t>(most_ms)));
}

}  // namespace mlbcc::trace
