// A function of this program to put probes on: like one that compilers make with frame pointers.
#pragma once

#include <cstdint>

namespace mlbcc::bpf {

constexpr const char* kOwnProgram = "/proc/self/exe";

void call_own_function();
// Where it is in this program's file, bytes from its beginning. 0: that cannot be found out.
uint64_t own_function_offset();
uint64_t own_function_return();  // from there to its `ret`

}  // namespace mlbcc::bpf
