// The registers and the top of the caller's stack, for a record whose rule has `stack user`.

// Where registers come from differs, and so must the instructions that read them: the verifier takes
// none for two kinds of pointer. Equal ends of branches are made one by clang; with this they differ.
#define MLBCC_APART(number) asm volatile("" : : "i"(number))

// In the kernel, those that the program entered it with. 0: none are known.
static __always_inline int mlbcc_caller(struct call *call, struct user_stack *stack) {
    if (call->sp < MLBCC_SYSCALL_SP) {
        struct pt_regs *registers =
            (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
        if (!registers) return 0;
        MLBCC_CALLER_AT_RETURN(registers, stack);
        MLBCC_APART(1);
    } else if (call->sp == MLBCC_SYSCALL_SP) {
        MLBCC_CALLER_OF_SYSCALL(call->ctx, stack);
        MLBCC_APART(2);
    } else if ((call->what & 1) && !MLBCC_MOVES(call)) {
        MLBCC_CALLER_AT_RETURN(call->ctx, stack);
        MLBCC_APART(3);
    } else {
        MLBCC_CALLER_AT_ENTRY(call->ctx, stack);
        MLBCC_APART(4);
    }
    return 1;
}

// Stacks are large: they leave the last quarter of a buffer to records that say what happened.
#define MLBCC_NO_ROOM 1  // in `bytes`, where `ip` is 0
static __always_inline u64 mlbcc_is_short_of_room(void) {
    int cpu = bpf_get_smp_processor_id();
    void *ring = rings.lookup(&cpu);
    if (!ring) return 0;
    u64 size = bpf_ringbuf_query(ring, BPF_RB_RING_SIZE);
    return MLBCC_LESS(size - size / 4, bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA));
}

// Adds the returns that return probes await within the copy. Their count is in memory, where the
// verifier does not follow it: all passes look the same to it.
static __always_inline void mlbcc_copy_returns(struct user_stack *stack) {
#ifdef MLBCC_AWAITED_SP
    void *uprobes = MLBCC_UPROBES();
    if (!uprobes) return;
    void *one = MLBCC_POINTER_IN(uprobes, MLBCC_RETURN_INSTANCES);
    for (u32 i = 0; i < MLBCC_AWAITED_RETURNS - 1; i++) {
        asm volatile("" : "+r"(i));  // a loop, not 63 copies
        if (!one) break;
        u64 sp = (u64)MLBCC_POINTER_IN(one, MLBCC_AWAITED_SP);
        u64 to = (u64)MLBCC_POINTER_IN(one, MLBCC_AWAITED_TO);
        one = MLBCC_POINTER_IN(one, MLBCC_AWAITED_NEXT);
        if (sp - stack->sp + 8 >= stack->bytes + 8) continue;  // below it: what longjmp() has left
        struct awaited_return *kept =
            (struct awaited_return *)(stack->data + (stack->bytes & 4095));
        kept += stack->returns & (MLBCC_AWAITED_RETURNS - 1);
        kept->sp = sp;
        kept->address = to;
        stack->returns++;
    }
#endif
}

// The bytes of call->stack that are to be submitted: less than all near the stack's upper end.
MLBCC_COMMON u64 common_copy_stack(struct call *call) {
    struct user_stack *stack = call->stack;
    stack->bytes = 0;
    stack->returns = 0;
    if (mlbcc_is_short_of_room()) {
        stack->ip = 0;
        stack->bytes = MLBCC_NO_ROOM;
        return __builtin_offsetof(struct user_stack, data);
    }
    if (!mlbcc_caller(call, stack)) return __builtin_offsetof(struct user_stack, data);
    void *from = (void *)stack->sp;
    if (bpf_probe_read_user(stack->data, 4088, from) == 0) stack->bytes = 4088;
    else if (bpf_probe_read_user(stack->data, 2048, from) == 0) stack->bytes = 2048;
    else if (bpf_probe_read_user(stack->data, 1024, from) == 0) stack->bytes = 1024;
    else if (bpf_probe_read_user(stack->data, 512, from) == 0) stack->bytes = 512;
    else if (bpf_probe_read_user(stack->data, 256, from) == 0) stack->bytes = 256;
    mlbcc_copy_returns(stack);
    return __builtin_offsetof(struct user_stack, data) + (stack->bytes & 4095) +
           (stack->returns & (MLBCC_AWAITED_RETURNS - 1)) * sizeof(struct awaited_return);
}
