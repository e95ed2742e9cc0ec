// Open calls of functions whose ends are seen at their own instructions, for their threads' stacks are
// unwound, switched or moved while calls are open: a call is known by where its stack pointer was, not by
// its thread and depth. One that was left without a return stays until the next at its place.

struct moving_call {
    u64 place;  // the stack pointer; of a goroutine, bytes below its stack's end, which move with it
    u64 owner;  // the goroutine; of a coroutine what it has in the registers that calls keep
    u32 tgid, probe;
};
BPF_F_TABLE("hash", struct moving_call, struct call_frame, moving, MLBCC_MOVING, BPF_F_NO_PREALLOC);
BPF_ARRAY(blank_frame, struct call_frame, 1);

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
    struct call_frame *blank = blank_frame.lookup(&zero);
    if (!blank) return 0;
    mlbcc_know_moving(call, &key);
    moving.update(&key, blank);
    struct call_frame *frame = moving.lookup(&key);
    if (!frame) return 0;
    frame->sp = call->sp;
    frame->start = call->now;
    frame->probe = call->probe;
    frame->hits = call->hits;
    mlbcc_take_arguments(call, frame->saved);
    call->frame = frame;
    return 1;
}

// The end of a call; what it saved is in `to` then.
static __always_inline u64 mlbcc_end_moving(struct call *call, struct call_frame *to) {
    struct moving_call key;
    mlbcc_know_moving(call, &key);
    struct call_frame *frame = moving.lookup(&key);
    if (!frame) return 0;
    bpf_probe_read_kernel(to, sizeof(*to), frame);
    moving.delete(&key);
    call->frame = to;
    call->start = to->start;
    call->hits = to->hits;
    return 1;
}
