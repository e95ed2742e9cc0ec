// C headers and declarations become the JSON that rules/ctypes.h describes, by libclang:
//
//   {"request":"types","headers":["/usr/local/cuda/include/cuda.h"],
//    "text":"#line 12 \"cuda.rules\"\nint step(size_t n);\n","include_dirs":[...],
//    "system_dirs":["/.../include/libc"],"names":["cu*","step"],"list_files":true}
//   ->
//   {"ok":true,"types":[...],"functions":[...],"diagnostics":[...],"files":[...],
//    "timings":{...}}
//
// "names" are globs of the functions that are wanted; without it, all. The types are those that the
// functions are made of, every enum, and the structs and unions of "text" itself.
// "files", if "list_files", are all that were read, headers of headers too. "system_dirs" stand in
// for the C library's headers; the machine's come after them, if it has any.
#pragma once

#include "compiler/reply.h"

namespace mlbcc::compiler {

Reply parse_types(const JsonValue& request);

}  // namespace mlbcc::compiler
