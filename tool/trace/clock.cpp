#include "trace/clock.h"

#include <ctime>

#include "system/proc.h"

namespace mlbcc::trace {

uint64_t monotonic_ns() {
    static const int64_t kOffsetNs = system::own_clock_offset_ns();
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec) -
           static_cast<uint64_t>(kOffsetNs);
}

}  // namespace mlbcc::trace
