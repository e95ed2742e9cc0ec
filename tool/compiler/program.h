// BPF C becomes loaded programs and maps, by libbcc:
//
//   {"request":"compile","source":"...","file":"generated.bpf.c","cflags":[...],
//    "kernel_dir":"/.../include/kernel","emit_only":false,
//    "programs":[{"name":"on_call","type":"kprobe","expected_attach_type":57}, ...],
//    "kfuncs":{"0x7fff0001":98765},"commons":{"0x7fff0100":"common_enter"},
//    "maps":["rings"]}     and a descriptor for each of these, which takes the place of that map
//   ->
//   {"ok":true,"maps":[{"name","id","type","key_size","value_size","max_entries","flags","fd":0}],
//    "programs":[{"name","fd":1,"insns":120}],"log":"warnings",
//    "timings":{"compile_ms":..,"load_ms":..}}     and the descriptors that "fd" counts
//   or
//   {"ok":false,"error":"...","code":13,"stage":"compile"|"load","program":"on_call","log":"..."}
//
// With "listing":true each program, or the one that was refused, has its instructions as text, with
// the line of C (0: not known; it takes debug information): "listing":[[0,12,"r6 = r1"],...]
//
// A kernel function (kfunc) is called in C as a helper with a number of its own, for libbcc knows
// no kfuncs:  static u64 *(*session_cookie)(void *) = (void *)0x7fff0001; "kfuncs" says which BTF
// id of the running kernel stands for the number. "commons" are shared functions of the same text
// (link.h). With "emit_only" nothing is loaded, no right to BPF is needed, and "fd" is absent.
#pragma once

#include "compiler/reply.h"

namespace mlbcc::compiler {

Reply compile_program(const JsonValue& request, std::vector<UniqueFd> fds);

}  // namespace mlbcc::compiler
