// The entries that look like those of NVIDIA's own library: 589 of its 600 functions begin with
// these bytes.
//
//   +0   81 3d .. .. .. .. 00 ba 1c 32   cmpl  $0x321cba00, cuda_sim_state(%rip)
//   +10  74 0c                           je    +24
//   +12  ff 25 .. .. .. ..               jmp   *cuda_sim_table+8*index(%rip)
//   +24  b8 04 00 00 00 c3               mov   $4, %eax; ret            (CUDA_ERROR_DEINITIALIZED)
//
// This file includes no header, so that __COUNTER__ numbers the trampolines from 0, as
// trampoline_table.cpp does.

#define TEXT_OF(x) #x
#define STRING(x) TEXT_OF(x)
#define TRAMPOLINE(symbol, since, implementation)                                                  \
    "trampoline " #symbol ", " STRING(__COUNTER__) "\n"
#define LEGACY(symbol, since) TRAMPOLINE(symbol, since, not_supported)
#define ALIAS(symbol, since, target) "alias " #symbol ", " #target "\n"
#define PUSH(symbol, since, implementation)
#define ENDBR(symbol, since, implementation)

#if defined(__x86_64__)
asm(R"(
    .macro trampoline symbol, index
    .globl \symbol
    .type \symbol, @function
    .p2align 4
\symbol:
    .cfi_startproc
    cmpl $0x321cba00, cuda_sim_state(%rip)
    je .Lshut_down_\symbol
    jmp *cuda_sim_table+8*\index(%rip)
    .p2align 3
.Lshut_down_\symbol:
    movl $4, %eax
    ret
    .cfi_endproc
.Lend_\symbol:
    .size \symbol, .Lend_\symbol-\symbol
    .endm
    .hidden cuda_sim_state
    .hidden cuda_sim_table
)"
#elif defined(__aarch64__)
asm(R"(
    .macro trampoline symbol, index
    .globl \symbol
    .type \symbol, @function
    .p2align 4
\symbol:
    .cfi_startproc
    adrp x16, cuda_sim_table+8*\index
    ldr x16, [x16, #:lo12:cuda_sim_table+8*\index]
    br x16
    .cfi_endproc
.Lend_\symbol:
    .size \symbol, .Lend_\symbol-\symbol
    .endm
    .hidden cuda_sim_table
)"
#else
#error "the simulated driver knows x86-64 and arm64"
#endif
    R"(
    .macro alias symbol, target
    .globl \symbol
    .type \symbol, @function
    .set \symbol, \target
    .size \symbol, .Lend_\target-\target
    .endm
    .text
)"
#include "exports.def"
);
