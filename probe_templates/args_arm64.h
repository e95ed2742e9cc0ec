// Where the procedure call standard for arm64 puts integer arguments, seen from a function's first
// instruction.
#define MLBCC_ARG0(ctx) MLBCC_REGISTER(ctx, regs[0])
#define MLBCC_ARG1(ctx) MLBCC_REGISTER(ctx, regs[1])
#define MLBCC_ARG2(ctx) MLBCC_REGISTER(ctx, regs[2])
#define MLBCC_ARG3(ctx) MLBCC_REGISTER(ctx, regs[3])
#define MLBCC_ARG4(ctx) MLBCC_REGISTER(ctx, regs[4])
#define MLBCC_ARG5(ctx) MLBCC_REGISTER(ctx, regs[5])
#define MLBCC_ARG6(ctx) MLBCC_REGISTER(ctx, regs[6])
#define MLBCC_ARG7(ctx) MLBCC_REGISTER(ctx, regs[7])
#define MLBCC_REGISTERS 8
#define MLBCC_TAKE_REGISTERS(ctx, to)                                                              \
    ((to)[0] = (ctx)->regs[0], (to)[1] = (ctx)->regs[1], (to)[2] = (ctx)->regs[2],                 \
     (to)[3] = (ctx)->regs[3], (to)[4] = (ctx)->regs[4], (to)[5] = (ctx)->regs[5],                 \
     (to)[6] = (ctx)->regs[6], (to)[7] = (ctx)->regs[7])
// And Go, in the same ones.
#define MLBCC_GO_ARG0 MLBCC_ARG0
#define MLBCC_GO_ARG1 MLBCC_ARG1
#define MLBCC_GO_ARG2 MLBCC_ARG2
#define MLBCC_GO_ARG3 MLBCC_ARG3
#define MLBCC_GO_ARG4 MLBCC_ARG4
#define MLBCC_GO_ARG5 MLBCC_ARG5
#define MLBCC_GO_ARG6 MLBCC_ARG6
#define MLBCC_GO_ARG7 MLBCC_ARG7
#define MLBCC_TAKE_GO_REGISTERS MLBCC_TAKE_REGISTERS
#define MLBCC_STACK_ARG(ctx, n) (MLBCC_REGISTER(ctx, sp) + 8 * (n))
#define MLBCC_RETURN_ADDRESS(ctx, to) (*(to) = (ctx)->regs[30])
#define MLBCC_CALLER_IN_REGISTER
// The kernel puts its trampoline for return probes into the last page of a process's addresses.
#define MLBCC_TRAMPOLINES 0xffffffff0000ULL
#define MLBCC_RETURN_VALUE(ctx) MLBCC_REGISTER(ctx, regs[0])
// The result replaces the first argument, of which the kernel keeps a copy.
#define MLBCC_ARGUMENTS_OF_SYSCALL(registers) ((registers)->regs[0] = (registers)->orig_x0)
#define MLBCC_IP pc
#define MLBCC_FUTEX 98
#define MLBCC_IS_32_BIT(registers) (((registers)->pstate & 0x10) != 0)
// What the end of a system call must know of struct pt_regs, and where there it is.
struct mlbcc_syscall_rest {
    u64 pstate, first;
    s32 number, unused;
};
#define MLBCC_SYSCALL_REST __builtin_offsetof(struct pt_regs, pstate)
#define MLBCC_SIGRETURN 139
// Of the call that a thread is in; the number is -1 where it came into the kernel otherwise.
#define MLBCC_CALL_NUMBER syscallno
#define MLBCC_CALL_FIRST orig_x0
#define MLBCC_CALL_FOURTH regs[3]
#define MLBCC_IS_EXEC(number) ((number) == 221 || (number) == 281)
#define MLBCC_IS_FORK(number) ((number) == 220 || (number) == 435)  // clone, clone3
#define MLBCC_ENTRY_SP(ctx) ((u64)(ctx)->sp)
#define MLBCC_RETURN_SP(ctx) ((u64)(ctx)->sp)
// One number of registers that a call leaves as they were.
#define MLBCC_KEPT_REGISTERS(ctx)                                                                  \
    ((((((((ctx)->regs[19] * 31 + (ctx)->regs[20]) * 31 + (ctx)->regs[21]) * 31 +                  \
         (ctx)->regs[22]) * 31 + (ctx)->regs[23]) * 31 + (ctx)->regs[24]) * 31) + (ctx)->regs[29])
// The goroutine that runs, and behind `cmp sp, x16` whether its stack is too short: `b.ls`.
#define MLBCC_GOROUTINE(ctx) ((ctx)->regs[28])
#define MLBCC_STACK_IS_SHORT(ctx)                                                                  \
    (((ctx)->pstate & 0x20000000) == 0 || ((ctx)->pstate & 0x40000000) != 0)

// The registers of the caller as the call leaves them: what unwinding begins from.
#define MLBCC_CALLEE_SAVED(ctx, stack)                                                             \
    do {                                                                                           \
        (stack)->sp = (ctx)->sp;                                                                   \
        (stack)->saved[0] = (ctx)->regs[29];                                                       \
        (stack)->saved[1] = (ctx)->regs[30];                                                       \
        (stack)->saved[2] = (ctx)->regs[19];                                                       \
        (stack)->saved[3] = (ctx)->regs[20];                                                       \
        (stack)->saved[4] = (ctx)->regs[21];                                                       \
        (stack)->saved[5] = (ctx)->regs[22];                                                       \
        (stack)->saved[6] = (ctx)->regs[23];                                                       \
        (stack)->saved[7] = (ctx)->regs[24];                                                       \
        (stack)->saved[8] = (ctx)->regs[25];                                                       \
        (stack)->saved[9] = (ctx)->regs[26];                                                       \
        (stack)->saved[10] = (ctx)->regs[27];                                                      \
        (stack)->saved[11] = (ctx)->regs[28];                                                      \
    } while (0)
#define MLBCC_CALLER_AT_ENTRY(ctx, stack)                                                          \
    do {                                                                                           \
        (stack)->ip = (ctx)->regs[30];                                                             \
        MLBCC_CALLEE_SAVED(ctx, stack);                                                            \
    } while (0)
#define MLBCC_CALLER_AT_RETURN(ctx, stack)                                                         \
    do {                                                                                           \
        (stack)->ip = (ctx)->pc;                                                                   \
        MLBCC_CALLEE_SAVED(ctx, stack);                                                            \
    } while (0)
