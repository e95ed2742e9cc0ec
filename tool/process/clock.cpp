#include "process/clock.h"

#include <chrono>
#include <ctime>

#include "process/proc.h"

namespace mlbcc::process {

uint64_t monotonic_ns() {
    static const int64_t kOffsetNs = own_clock_offset_ns();
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec) -
           static_cast<uint64_t>(kOffsetNs);
}

uint64_t epoch_ns() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto wall_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    return static_cast<uint64_t>(wall_ns) - monotonic_ns();
}

}  // namespace mlbcc::process
