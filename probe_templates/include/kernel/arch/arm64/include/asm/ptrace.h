/* What the kernel saves of a trapped thread on arm64: the registers as user space sees them
 * (user_pt_regs), then the kernel's own. */
#ifndef MLBCC_ASM_PTRACE_H
#define MLBCC_ASM_PTRACE_H

struct user_pt_regs {
    unsigned long long regs[31];
    unsigned long long sp, pc, pstate;
};

struct pt_regs {
    unsigned long long regs[31];
    unsigned long long sp, pc, pstate;
    unsigned long long orig_x0;
    int syscallno;
};

#endif
