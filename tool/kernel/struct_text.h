// The kernel's structures as C, no more of them than a program in C asks for by its words:
//
//   task->real_parent->tgid, of a `struct task_struct *`  ->
//   struct task_struct { char pad_0[1268]; int tgid; char pad_1[8]; struct task_struct
//   *real_parent; ... };
//
// Each field is where the kernel's BTF has it, and the text asserts so.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/kernel_btf.h"

namespace mlbcc::kernel {

// `own`: structures that the program, or what it is compiled with, defines itself. Structures that
// the kernel does not have are left out; fields likewise.
Result<std::string> struct_text(KernelBtf& btf, std::string_view program,
                                const std::set<std::string, std::less<>>& own);

// Those that the text defines: "struct NAME {".
std::set<std::string, std::less<>> defined_structs(std::string_view program);

}  // namespace mlbcc::kernel
