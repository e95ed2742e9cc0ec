/* What the kernel saves of a trapped thread on x86-64, in the order of its stack frame. `orig_ax` is
 * the number of the system call, or -1 in a trap. */
#ifndef MLBCC_ASM_PTRACE_H
#define MLBCC_ASM_PTRACE_H

struct pt_regs {
    unsigned long r15, r14, r13, r12, bp, bx; /* kept by called functions */
    unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
    unsigned long orig_ax;
    unsigned long ip, cs, flags, sp, ss; /* pushed by the processor */
};

#endif
