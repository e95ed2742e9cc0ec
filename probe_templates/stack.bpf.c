// The registers and the top of the caller's stack, for a record whose rule has `stack user`.

// In the kernel, those that the program entered it with. 0: none are known.
static __always_inline int mlbcc_caller(struct call *call, struct user_stack *stack) {
    if (call->sp < MLBCC_SYSCALL_SP) {
        struct pt_regs *registers =
            (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
        if (!registers) return 0;
        MLBCC_CALLER_AT_RETURN(registers, stack);
    } else if (call->sp == MLBCC_SYSCALL_SP) {
        MLBCC_CALLER_OF_SYSCALL(call->ctx, stack);
    } else if ((call->what & 1) && !MLBCC_MOVES(call)) {
        MLBCC_CALLER_AT_RETURN(call->ctx, stack);
    } else {
        MLBCC_CALLER_AT_ENTRY(call->ctx, stack);
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

// The bytes of call->stack that are to be submitted: less than all near the stack's upper end.
MLBCC_COMMON u64 common_copy_stack(struct call *call) {
    struct user_stack *stack = call->stack;
    stack->bytes = 0;
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
    return __builtin_offsetof(struct user_stack, data) + (stack->bytes & 4095);
}
