// Where the System V ABI for x86-64 puts integer arguments, seen from a function's first byte.
#define MLBCC_ARG0(ctx) MLBCC_REGISTER(ctx, di)
#define MLBCC_ARG1(ctx) MLBCC_REGISTER(ctx, si)
#define MLBCC_ARG2(ctx) MLBCC_REGISTER(ctx, dx)
#define MLBCC_ARG3(ctx) MLBCC_REGISTER(ctx, cx)
#define MLBCC_ARG4(ctx) MLBCC_REGISTER(ctx, r8)
#define MLBCC_ARG5(ctx) MLBCC_REGISTER(ctx, r9)
#define MLBCC_REGISTERS 6
#define MLBCC_TAKE_REGISTERS(ctx, to)                                                              \
    ((to)[0] = (ctx)->di, (to)[1] = (ctx)->si, (to)[2] = (ctx)->dx, (to)[3] = (ctx)->cx,           \
     (to)[4] = (ctx)->r8, (to)[5] = (ctx)->r9)
// And Go (ABIInternal, cmd/compile/abi-internal.md).
#define MLBCC_GO_ARG0(ctx) MLBCC_REGISTER(ctx, ax)
#define MLBCC_GO_ARG1(ctx) MLBCC_REGISTER(ctx, bx)
#define MLBCC_GO_ARG2(ctx) MLBCC_REGISTER(ctx, cx)
#define MLBCC_GO_ARG3(ctx) MLBCC_REGISTER(ctx, di)
#define MLBCC_GO_ARG4(ctx) MLBCC_REGISTER(ctx, si)
#define MLBCC_GO_ARG5(ctx) MLBCC_REGISTER(ctx, r8)
#define MLBCC_TAKE_GO_REGISTERS(ctx, to)                                                           \
    ((to)[0] = (ctx)->ax, (to)[1] = (ctx)->bx, (to)[2] = (ctx)->cx, (to)[3] = (ctx)->di,           \
     (to)[4] = (ctx)->si, (to)[5] = (ctx)->r8)
// [sp] is the return address; 64-bit words of arguments follow it.
#define MLBCC_STACK_ARG(ctx, n) (MLBCC_REGISTER(ctx, sp) + 8 + 8 * (n))
#define MLBCC_RETURN_ADDRESS(ctx, to) bpf_probe_read_user(to, 8, (void*)(ctx)->sp)
// Whether a jump is taken whose condition has this number ("jne" 5; Intel's manual, volume 2, "Jcc"):
// an odd one is the opposite of the one before.
#define MLBCC_FLAG(ctx, bit) ((u32)((ctx)->flags >> (bit)) & 1)
#define MLBCC_CF(ctx) MLBCC_FLAG(ctx, 0)
#define MLBCC_ZF(ctx) MLBCC_FLAG(ctx, 6)
#define MLBCC_SF_OF(ctx) (MLBCC_FLAG(ctx, 7) ^ MLBCC_FLAG(ctx, 11))
#define MLBCC_JUMPS_IF(ctx, condition)                                                             \
    ((((condition) >> 1) == 0   ? MLBCC_FLAG(ctx, 11)                                              \
      : ((condition) >> 1) == 1 ? MLBCC_CF(ctx)                                                    \
      : ((condition) >> 1) == 2 ? MLBCC_ZF(ctx)                                                    \
      : ((condition) >> 1) == 3 ? (MLBCC_CF(ctx) | MLBCC_ZF(ctx))                                  \
      : ((condition) >> 1) == 4 ? MLBCC_FLAG(ctx, 7)                                               \
      : ((condition) >> 1) == 5 ? MLBCC_FLAG(ctx, 2)                                               \
      : ((condition) >> 1) == 6 ? MLBCC_SF_OF(ctx)                                                 \
                                : (MLBCC_ZF(ctx) | MLBCC_SF_OF(ctx))) ^                            \
     ((condition) & 1))
#define MLBCC_RETURN_CODE 0xc3
#define MLBCC_RETURN(ctx, to) ((ctx)->ip = (to), (ctx)->sp += 8)
// The kernel puts its trampoline for return probes into the last page of a process's addresses.
#define MLBCC_TRAMPOLINES 0x7fffffff0000ULL
#define MLBCC_RETURN_VALUE(ctx) MLBCC_REGISTER(ctx, ax)
// What a program keeps of the registers with which a system call was made.
#define MLBCC_SYSCALL_COPY struct pt_regs
#define MLBCC_COPY_REGISTERS(to, from)                                                             \
    (bpf_probe_read_kernel(to, sizeof(*(to)), (void*)(from)) == 0)
// The fourth argument of a system call is in r10: `syscall` writes rcx.
#define MLBCC_ARGUMENTS_OF_SYSCALL(registers) ((registers)->cx = (registers)->r10)
#define MLBCC_IP ip
#define MLBCC_FUTEX 202
#define MLBCC_IS_32_BIT(registers) ((registers)->cs == 0x23)
#define MLBCC_DESCRIPTOR_HAS_ITSELF 1  // a thread's, at its beginning (the ABI's thread-local storage)
// What the end of a system call must know of struct pt_regs, and where there it is.
struct mlbcc_syscall_rest {
    u64 number, ip, cs;
};
#define MLBCC_SYSCALL_REST __builtin_offsetof(struct pt_regs, orig_ax)
#define MLBCC_SIGRETURN 15
// Of the call that a thread is in; the number is -1 where it came into the kernel otherwise.
#define MLBCC_CALL_NUMBER orig_ax
#define MLBCC_CALL_FIRST di
#define MLBCC_CALL_FOURTH r10
// clone, fork, vfork, clone3
#define MLBCC_IS_EXEC(number) ((number) == 59 || (number) == 322)
#define MLBCC_IS_FORK(number) (((number) >= 56 && (number) <= 58) || (number) == 435)
// The same number at both ends of a call: `ret` has taken the return address off the stack.
#define MLBCC_ENTRY_SP(ctx) ((u64)(ctx)->sp)
#define MLBCC_RETURN_SP(ctx) ((u64)(ctx)->sp - 8)
// One number of all registers that a call leaves as they were.
#define MLBCC_KEPT_REGISTERS(ctx)                                                                  \
    (((((((ctx)->bx * 31 + (ctx)->bp) * 31 + (ctx)->r12) * 31 + (ctx)->r13) * 31 + (ctx)->r14) *   \
      31) + (ctx)->r15)
// The goroutine that runs, and behind `cmp 16(%r14), %rsp` whether its stack is too short: `jbe`.
#define MLBCC_GOROUTINE(ctx) ((u64)(ctx)->r14)
#define MLBCC_STACK_IS_SHORT(ctx) (((ctx)->flags & 0x41) != 0)

// The registers of the caller as the call leaves them: what unwinding begins from.
#define MLBCC_CALLEE_SAVED(ctx, stack)                                                             \
    ((stack)->saved[0] = (ctx)->bp, (stack)->saved[1] = (ctx)->bx, (stack)->saved[2] = (ctx)->r12, \
     (stack)->saved[3] = (ctx)->r13, (stack)->saved[4] = (ctx)->r14,                               \
     (stack)->saved[5] = (ctx)->r15)
#define MLBCC_CALLER_AT_ENTRY(ctx, stack)                                                          \
    do {                                                                                           \
        (stack)->ip = 0;                                                                           \
        bpf_probe_read_user(&(stack)->ip, 8, (void*)(ctx)->sp);                                    \
        (stack)->sp = (ctx)->sp + 8;                                                               \
        MLBCC_CALLEE_SAVED(ctx, stack);                                                            \
    } while (0)
#define MLBCC_CALLER_AT_RETURN(ctx, stack)                                                         \
    ((stack)->ip = (ctx)->ip, (stack)->sp = (ctx)->sp, MLBCC_CALLEE_SAVED(ctx, stack))
#define MLBCC_CALLER_OF_SYSCALL MLBCC_CALLER_AT_RETURN
