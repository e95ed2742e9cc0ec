// The stack of the code that asks for it, as the kernel would copy it into a record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace mlbcc::test {

#if defined(__x86_64__)
inline constexpr plan::Arch kOwnArch = plan::Arch::x86_64;
#else
inline constexpr plan::Arch kOwnArch = plan::Arch::arm64;
#endif

struct CapturedStack {
    plan::UserStack from{};
    std::vector<std::byte> memory;
};

// At most `bytes` of memory; the first frame is the caller's.
void capture(CapturedStack& out, size_t bytes);

}  // namespace mlbcc::test
