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
        // Below it: what longjmp() has left.
        if (sp - stack->sp + 8 >= stack->bytes + stack->more + 8) continue;
        struct awaited_return *kept =
            (struct awaited_return *)(stack->data + (stack->bytes & 4095));
        kept += stack->returns & (MLBCC_AWAITED_RETURNS - 1);
        kept->sp = sp;
        kept->address = to;
        stack->returns++;
    }
#endif
}

// A stack is copied as deep as it is: 4 088 bytes with the record's other parts, more of it straight
// from the program into the ring.
#define MLBCC_STACK_BYTES 4088ULL
#define MLBCC_MORE_BYTES 28672ULL
#define MLBCC_LEAST(a, b) ((b) + (((a) - (b)) & -MLBCC_LESS(a, b)))

// How much of it is to be copied: that of the first thread ends where the kernel has put the program's
// arguments, that of others below their descriptor, to which the thread pointer points. Where it is
// neither, of stacks that a program makes itself, its depth is not known; nor where the pointer is not
// to a descriptor, as Go's.
static __always_inline u64 mlbcc_measure(struct user_stack *stack, u64 *more) {
    u64 first = MLBCC_STACK_BYTES;
    *more = 0;
#ifdef MLBCC_START_STACK
    u64 depth = 0;
    const u64 far = 1ULL << 27;  // stacks of a process lie further apart
    void *mm = MLBCC_POINTER_IN(bpf_get_current_task_btf(), MLBCC_TASK_MM);
    if (mm) depth = (u64)MLBCC_POINTER_IN(mm, MLBCC_START_STACK) - stack->sp;
    if (depth && depth < far) {
        first = MLBCC_LEAST((depth + 7) & -8ULL, first);
    } else {
        depth = 0;
#ifdef MLBCC_THREAD_POINTER
        u64 descriptor = (u64)MLBCC_POINTER_IN(bpf_get_current_task_btf(), MLBCC_THREAD_POINTER);
        u64 itself = 0;
        depth = descriptor - stack->sp;
        depth &= -MLBCC_LESS(depth, far);  // below 0 it is none, by what follows
        if (MLBCC_DESCRIPTOR_HAS_ITSELF && depth && depth < first) {
            bpf_probe_read_user(&itself, sizeof(itself), (void *)descriptor);
            if (itself == descriptor) first = (depth + 7) & -8ULL;
        }
#endif
    }
    depth -= MLBCC_LEAST(depth, MLBCC_STACK_BYTES);
    *more = MLBCC_LEAST(depth, MLBCC_MORE_BYTES);
#endif
    return first;
}

// The bytes of call->stack that are to be submitted; call->stack->more, where the record goes by
// mlbcc_submit_stack(), are those that it is to add.
MLBCC_COMMON u64 common_copy_stack(struct call *call) {
    struct user_stack *stack = call->stack;
    stack->bytes = 0;
    stack->returns = 0;
    stack->more = 0;
    if (mlbcc_is_short_of_room()) {
        stack->ip = 0;
        stack->bytes = MLBCC_NO_ROOM;
        return __builtin_offsetof(struct user_stack, data);
    }
    if (!mlbcc_caller(call, stack)) return __builtin_offsetof(struct user_stack, data);
    void *from = (void *)stack->sp;
    u64 more, first = mlbcc_measure(stack, &more);
    MLBCC_SEEN(first);
    if (bpf_probe_read_user(stack->data, first & 4095, from) == 0) {
        stack->bytes = first;
        stack->more = more;
    } else if (bpf_probe_read_user(stack->data, 2048, from) == 0) stack->bytes = 2048;
    else if (bpf_probe_read_user(stack->data, 1024, from) == 0) stack->bytes = 1024;
    else if (bpf_probe_read_user(stack->data, 512, from) == 0) stack->bytes = 512;
    else if (bpf_probe_read_user(stack->data, 256, from) == 0) stack->bytes = 256;
    mlbcc_copy_returns(stack);
    return __builtin_offsetof(struct user_stack, data) + (stack->bytes & 4095) +
           (stack->returns & (MLBCC_AWAITED_RETURNS - 1)) * sizeof(struct awaited_return);
}

// Reads the rest of a deep stack behind the record in `room`. What the program has not touched yet is
// in no memory: there it ends.
static __always_inline void mlbcc_read_more(struct user_stack *stack, u8 *to, u64 bytes) {
    u64 from = stack->sp + MLBCC_STACK_BYTES;
    u64 wanted = stack->more;
    stack->more = 0;
    for (u64 at = 0; at < bytes; at += 4096) {
        u64 part = MLBCC_LEAST(wanted - at, 4096ULL);
        MLBCC_SEEN(part);
        if (at >= wanted || part > 4096) break;
        if (bpf_probe_read_user(to + at, part, (void *)(from + at)) != 0) break;
        stack->more += part;
    }
}

// 1 where there was no room. The kernel wants to know the size while it looks at the program.
#define MLBCC_WRITE_DEEP(call, size, to, bytes)                                                    \
    ({                                                                                             \
        u64 lost_ = 1;                                                                             \
        u8 *room_ = bpf_ringbuf_reserve(to, MLBCC_SCRATCH_BYTES + (bytes), 0);                     \
        if (room_) {                                                                               \
            mlbcc_read_more((call)->stack, room_ + (size), bytes);                                 \
            bpf_probe_read_kernel(room_, size, (call)->record);                                    \
            bpf_ringbuf_submit(room_, mlbcc_wakes((call)->all, MLBCC_SCRATCH_BYTES + (bytes)));    \
            lost_ = 0;                                                                             \
        }                                                                                          \
        lost_;                                                                                     \
    })

static __always_inline u64 mlbcc_put_deep(struct call *call) {
    int cpu = bpf_get_smp_processor_id();
    void *to = rings.lookup(&cpu);
    u64 size = call->size;
    MLBCC_SEEN(size);
    if (!to || size > MLBCC_SCRATCH_BYTES) return 1;
    MLBCC_SEEN(size);
    u64 more = call->stack->more;
    if (more <= 4096) return MLBCC_WRITE_DEEP(call, size, to, 4096);
    if (more <= 12288) return MLBCC_WRITE_DEEP(call, size, to, 12288);
    return MLBCC_WRITE_DEEP(call, size, to, MLBCC_MORE_BYTES);
}

// As common_submit(), of a record with call->stack at its end.
MLBCC_COMMON u64 common_submit_stack(struct call *call) {
    u64 lost = 1;
    mlbcc_head(call, call->record);
    if (call->stack->more) lost = mlbcc_put_deep(call);
    if (lost) {
        call->stack->more = 0;
        lost = mlbcc_write(call->all, call->record, call->size);
    }
    return mlbcc_account(call, lost);
}
