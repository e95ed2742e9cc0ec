// Whether the kernel preempts the programs of raw tracepoints.
#pragma once

#include "bpf/kernel.h"

namespace mlbcc::bpf {

// By looking at the count that forbids it, from such a program, in a system call of this thread.
// Where it is 0 another thread of the same CPU can come to the tracepoint before the program ends:
// the kernel skips the program then. False where nothing can be said.
bool preempts_raw_tracepoints(const TypePlaces& types);

}  // namespace mlbcc::bpf
