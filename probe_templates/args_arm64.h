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
// What a program keeps of the registers with which a system call was made: those of arguments, which
// lie as in struct pt_regs, and from x19 on. All of them would take more than half of BPF's stack.
struct syscall_registers {
    u64 regs[8];
    u64 saved[12], sp, pc, pstate, orig_x0;  // x19 to x30
};
#define MLBCC_SYSCALL_COPY struct syscall_registers
#define MLBCC_COPY_REGISTERS(to, from)                                                             \
    (bpf_probe_read_kernel((to)->regs, sizeof((to)->regs), (void *)(from)) == 0 &&                 \
     bpf_probe_read_kernel((to)->saved, sizeof(*(to)) - sizeof((to)->regs),                        \
                           (void *)((from) + 19 * 8)) == 0)
// The result replaces the first argument, of which the kernel keeps a copy.
#define MLBCC_ARGUMENTS_OF_SYSCALL(registers) ((registers)->regs[0] = (registers)->orig_x0)
#define MLBCC_IP pc
#define MLBCC_FUTEX 98
#define MLBCC_IS_32_BIT(registers) (((registers)->pstate & 0x10) != 0)
#define MLBCC_DESCRIPTOR_HAS_ITSELF 0
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

// The registers of the caller as the call leaves them: what unwinding begins from. `x19` is the place
// of that register in `registers`; the others follow it.
#define MLBCC_CALLEE_SAVED(registers, x19, stack)                                                  \
    do {                                                                                           \
        (stack)->saved[0] = (registers)[(x19) + 10];                                               \
        (stack)->saved[1] = (registers)[(x19) + 11];                                               \
        (stack)->saved[2] = (registers)[(x19)];                                                    \
        (stack)->saved[3] = (registers)[(x19) + 1];                                                \
        (stack)->saved[4] = (registers)[(x19) + 2];                                                \
        (stack)->saved[5] = (registers)[(x19) + 3];                                                \
        (stack)->saved[6] = (registers)[(x19) + 4];                                                \
        (stack)->saved[7] = (registers)[(x19) + 5];                                                \
        (stack)->saved[8] = (registers)[(x19) + 6];                                                \
        (stack)->saved[9] = (registers)[(x19) + 7];                                                \
        (stack)->saved[10] = (registers)[(x19) + 8];                                               \
        (stack)->saved[11] = (registers)[(x19) + 9];                                               \
    } while (0)
#define MLBCC_CALLER_AT_ENTRY(ctx, stack)                                                          \
    do {                                                                                           \
        (stack)->ip = (ctx)->regs[30];                                                             \
        (stack)->sp = (ctx)->sp;                                                                   \
        MLBCC_CALLEE_SAVED((ctx)->regs, 19, stack);                                                \
    } while (0)
#define MLBCC_CALLER_AT_RETURN(ctx, stack)                                                         \
    do {                                                                                           \
        (stack)->ip = (ctx)->pc;                                                                   \
        (stack)->sp = (ctx)->sp;                                                                   \
        MLBCC_CALLEE_SAVED((ctx)->regs, 19, stack);                                                \
    } while (0)
#define MLBCC_CALLER_OF_SYSCALL(registers, stack)                                                  \
    do {                                                                                           \
        struct syscall_registers *copy = (struct syscall_registers *)(registers);                  \
        (stack)->ip = copy->pc;                                                                    \
        (stack)->sp = copy->sp;                                                                    \
        MLBCC_CALLEE_SAVED(copy->saved, 0, stack);                                                 \
    } while (0)
