// What BPF's stack of 512 bytes has no room for has one in the thread's state: the key of a group,
// or a text that is compared, one at a time. What comes in the middle of other programs has its
// own.
#pragma once

#include <cstdint>
#include <string>

#include "plan/plan.h"

namespace mlbcc::codegen {

inline constexpr uint32_t kMaxKeyOnStack = 24, kMaxTextOnStack = 40;  // bytes
inline constexpr uint32_t kMaxComparedText = 520;  // likewise; the longest text has 512

// Its programs come in the middle of those of functions and system calls, but not of each other.
bool comes_between(const plan::ProbePlan& probe);

bool is_large_key(const plan::Aggregate& aggregate);
// Of a text that is compared with a literal: so much of it is read.
uint32_t compared_bytes(const rules::BinaryNode& node);

struct Rooms {
    uint32_t count = 0, bytes = 0;  // of each; no rooms: 0
};
Rooms rooms(const plan::Plan& plan);
// Which of them is the probe's.
uint32_t room_of(const plan::Plan& plan, const plan::ProbePlan& probe);
bool needs_room(const plan::Plan& plan, const plan::ProbePlan& probe);

}  // namespace mlbcc::codegen
