// Open calls of functions whose ends are seen at their own instructions, for their threads' stacks are
// unwound, switched or moved while calls are open: a call is known by where its stack pointer was, not by
// its thread and depth. One that was left without a return stays until the next at its place.

struct moving_call {
    u64 place;  // the stack pointer; of a goroutine, bytes below its stack's end, which move with it
    u64 owner;  // the goroutine; of a coroutine what it has in the registers that calls keep
    u32 tgid, probe;
};
struct moving_frame {
    struct call_frame frame;
    u64 left;  // MLBCC_..., below: by a jump to another function, which returns for it
};
BPF_F_TABLE("hash", struct moving_call, struct moving_frame, moving, MLBCC_MOVING, BPF_F_NO_PREALLOC);
BPF_ARRAY(blank_frame, struct moving_frame, 1);

#define MLBCC_HAS_JUMPED 1
#define MLBCC_HAS_ARRIVED 2

// What the instruction of a probe is, in the place of its cookie's text (tool/codegen/codegen.h).
#define MLBCC_ROLE_JUMPS 1
#define MLBCC_ROLE_ARRIVES 2
#define MLBCC_ROLE_ARRIVES_INSIDE 3
#define MLBCC_ROLE_RETURNS_ELSEWHERE 4
#define MLBCC_ROLE_JUMPS_IF 16  // and x86-64's number of the condition

#ifndef MLBCC_JUMPS_IF
#define MLBCC_JUMPS_IF(ctx, condition) 1
#endif

#define MLBCC_GO_STACK_END 8  // of a goroutine's structure: stack.hi

static __always_inline void mlbcc_know_moving(struct call *call, struct moving_call *key) {
    key->place = call->sp;
    key->owner = 0;
    key->tgid = call->id.tgid;
    key->probe = call->probe;
    // Greenlets take turns on one stack: what is not theirs is copied away meanwhile.
    if (call->ends_by == MLBCC_BY_COROUTINE) {
        key->owner = MLBCC_KEPT_REGISTERS(call->ctx);
#ifdef MLBCC_FSBASE
        key->owner = key->owner * 31 + mlbcc_python_now(&call->id);
#endif
    }
    if (call->ends_by != MLBCC_BY_GO) return;
    u64 end = 0;
    key->owner = MLBCC_GOROUTINE(call->ctx);
    bpf_probe_read_user(&end, 8, (void *)(key->owner + MLBCC_GO_STACK_END));
    key->place = end - call->sp;
}

// As common_push().
static __always_inline u64 mlbcc_push_moving(struct call *call) {
    struct moving_call key;
    int zero = 0;
    struct moving_frame *blank = blank_frame.lookup(&zero);
    if (!blank) return 0;
    mlbcc_know_moving(call, &key);
    moving.update(&key, blank);
    struct moving_frame *open = moving.lookup(&key);
    if (!open) return 0;
    struct call_frame *frame = &open->frame;
    frame->sp = call->sp;
    frame->start = call->now;
    frame->probe = call->probe;
    frame->hits = call->hits;
    mlbcc_take_arguments(call, frame->saved);
    call->frame = frame;
    return 1;
}

// Whether the call ends here. A call that was left by an exception is still there when another
// function is called in its place: that one is not what it has jumped to, and does not return for it.
static __always_inline u64 mlbcc_ends_here(struct pt_regs *ctx, struct moving_call *key,
                                           struct moving_frame *open) {
    u32 role = MLBCC_TEXT(bpf_get_attach_cookie(ctx));
    if (role == 0) return 1;
    if (role == MLBCC_ROLE_RETURNS_ELSEWHERE) return open->left == MLBCC_HAS_ARRIVED;
    if (role == MLBCC_ROLE_ARRIVES || role == MLBCC_ROLE_ARRIVES_INSIDE) {
        if (open->left == MLBCC_HAS_JUMPED) {
            open->left = MLBCC_HAS_ARRIVED;
        } else if (role == MLBCC_ROLE_ARRIVES || open->left == 0) {
            moving.delete(key);
        }
    } else if (role == MLBCC_ROLE_JUMPS || MLBCC_JUMPS_IF(ctx, role - MLBCC_ROLE_JUMPS_IF)) {
        open->left = MLBCC_HAS_JUMPED;
    }
    return 0;
}

// The end of a call; what it saved is in `to` then.
static __always_inline u64 mlbcc_end_moving(struct call *call, struct call_frame *to) {
    struct moving_call key;
    mlbcc_know_moving(call, &key);
    struct moving_frame *open = moving.lookup(&key);
    if (!open || !mlbcc_ends_here(call->ctx, &key, open)) return 0;
    bpf_probe_read_kernel(to, sizeof(*to), &open->frame);
    moving.delete(&key);
    call->frame = to;
    call->start = to->start;
    call->hits = to->hits;
    return 1;
}

#ifdef MLBCC_UPROBE
// Does the `ret` that a probe is on, where the kernel lets programs set registers: it goes on behind it
// then, and need not single-step it. Not where another probe is on it, too, whose program would find
// the caller's registers.
static __always_inline void mlbcc_return(struct pt_regs *ctx) {
    void *thread = bpf_get_current_task_btf();
    void *uprobes = MLBCC_UPROBES();
    if (!uprobes) return;
    void *probe = MLBCC_POINTER_IN(uprobes, MLBCC_UPROBE);
    struct {
        u64 next, prev;
    } consumers = {};
    u64 offset = 0, to = 0;
    u8 code = 0;
    if (!probe || MLBCC_IS_32_BIT(ctx)) return;
    bpf_probe_read_kernel(&code, sizeof(code), probe);
    if (code != MLBCC_RETURN_CODE) return;
    bpf_probe_read_kernel(&consumers, sizeof(consumers), probe + MLBCC_UPROBE_CONSUMERS);
    if (consumers.next != consumers.prev) return;
    // Another tracer's program may have done it, and have been taken off meanwhile.
    bpf_probe_read_kernel(&offset, sizeof(offset), probe + MLBCC_UPROBE_OFFSET);
    if ((ctx->MLBCC_IP ^ offset) & 0xfff) return;
#ifdef MLBCC_TASK_SHADOW
    u64 shadow = 0;
    bpf_probe_read_kernel(&shadow, sizeof(shadow), (void *)thread + MLBCC_TASK_SHADOW);
    if (shadow) return;
#endif
    if (MLBCC_RETURN_ADDRESS(ctx, &to) < 0 || to >= MLBCC_TRAMPOLINES) return;
    MLBCC_RETURN(ctx, to);
}
#endif
