// A probe in words: where it goes and why, what is read from where, what it costs.
//
//   libcuda.so.1:cuMemAlloc_v2  cuda.rules:10, cuda.rules:16
//     probe   +4 `push %rbp`: emulated; +0 `endbr64` would be single-stepped
//     entry   record of 56 bytes: dptr (rdi), bytesize (rsi)
//     return  record of 72 bytes: *dptr, bytesize (kept from entry), ret, user stack
#pragma once

#include <string>

#include "load/frontend.h"

namespace mlbcc::session {

std::string full_name(const plan::ProbePlan& probe);  // "syscall:openat"
std::string explain(const load::Frontend& frontend, const plan::ProbePlan& probe);
std::string explain_plan(const load::Frontend& frontend);  // shapes, records, buffers

}  // namespace mlbcc::session
