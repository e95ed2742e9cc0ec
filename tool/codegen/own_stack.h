// Keeps each program of a uprobe on the stack of the thread that runs it.
//
// From Linux 6.13 a program of the type that uprobes have runs on a stack of its CPU (a private
// stack) where it needs 64 bytes or more, for the kernel takes such programs never to be preempted.
// Those of uprobes are, and another thread that then runs the same program on that CPU writes over
// what the first one keeps there. A program that makes tail calls gets no private stack, so each
// makes one, into an array that stays empty. docs/decisions/014-a-stack-of-its-own.md
#pragma once

#include <string>
#include <string_view>

#include "codegen/codegen.h"

namespace mlbcc::codegen {

// The first statement of a program of this kind; "" where it needs none.
std::string_view own_stack(ProgramKind kind);

// The arrays for it, of the programs that a plan can have: the kernel lets programs share an array
// only if they attach in the same way.
std::string own_stack_maps(const plan::Plan& plan, const Options& options);

}  // namespace mlbcc::codegen
