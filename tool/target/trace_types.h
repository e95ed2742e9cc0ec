// What the kernel's format files say of a field, as C types: "const char * filename" is text,
// "unsigned int fd" a number of 4 bytes, "char comm[16]" an array.
#pragma once

#include "rules/types.h"
#include "target/target.h"

namespace mlbcc::target {

// Of a parameter of a system call: a value of 8 bytes, whatever its type. For a tracepoint's field
// the size that the format gives counts.
rules::TypeId syscall_parameter(const TraceField& field, rules::TypeTable& types);
rules::TypeId trace_field(const TraceField& field, rules::TypeTable& types);

// What system calls return: a number, negative errors by name (`-ENOENT`). Makes the names of
// errors known to expressions, too.
rules::TypeId syscall_result(rules::TypeTable& types);

}  // namespace mlbcc::target
