// Which instructions the kernel emulates under a uprobe, within the trap itself. Any other is
// copied to a page of its own and single-stepped there: a second trap, which costs 3 to 10 times as
// much.
#pragma once

#include "compiler/machine_code.h"

namespace mlbcc::compiler {

// `long_nops`: the kernel emulates nops of more than one byte (x86-64, from Linux 6.18).
struct KernelAbilities {
    bool long_nops = false;
};
KernelAbilities running_kernel();

// By the instruction's bytes, as the kernel decides. Sources: arch/x86/kernel/uprobes.c
// (branch_setup_xol_ops, push_setup_xol_ops), arch/arm64/kernel/probes/decode-insn.c
// (arm_probe_decode_insn). In doubt, no.
bool kernel_emulates(Architecture architecture, Bytes instruction, KernelAbilities kernel);

// Does the kernel put no uprobe on the instruction at all (ENOTSUPP, error 524, for all probes of
// the same request)? The common cases only: in doubt, no.
bool kernel_refuses(Architecture architecture, Bytes instruction);

}  // namespace mlbcc::compiler
