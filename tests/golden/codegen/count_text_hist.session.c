// session on_call -
#line 1 "settings"
#define MLBCC_EVERYONE 0
#define MLBCC_USES_FRAMES 1
#define MLBCC_SESSION 1
#define MLBCC_NAMESPACE 0
#define MLBCC_SAVED_BYTES 64
#define MLBCC_FRAMES 64
#define MLBCC_SCRATCH_BYTES 8
#define MLBCC_ALL_RULES 1
#line 1 "maps"
struct aggregate_0_value {
    u64 count;
};
struct aggregate_0_key {
    char k0[64];
};
BPF_F_TABLE("percpu_hash", struct aggregate_0_key, struct aggregate_0_value, aggregate_0, 10240, BPF_F_NO_PREALLOC);
BPF_ARRAY(aggregate_0_blank, struct aggregate_0_value, 1);
struct aggregate_1_value {
    u64 count;
    u64 sum;
    u64 inverse_min, max;
    u64 buckets[64];
};
BPF_PERCPU_ARRAY(aggregate_1, struct aggregate_1_value, 1);
#line 1 "shape_0"
#line 1 "probe_templates/entry.bpf.c"
// The beginning of a call. MLBCC_SKIP is returned where its end is of no interest.
static __always_inline int shape_0_run(struct pt_regs *ctx) {
    u64 cookie = bpf_get_attach_cookie(ctx);
    u32 probe = MLBCC_PROBE(cookie);
    struct identity id = {};
    if (!mlbcc_admit(&id)) return MLBCC_SKIP;
    struct accounts *all = mlbcc_accounts();
    if (!all) return MLBCC_SKIP;
    u64 now = bpf_ktime_get_ns();
    const u32 hits = 1;
    struct thread_state *thread = mlbcc_thread(&id);
    if (!thread) {
        return MLBCC_SKIP;
    }
    if (!(hits & 1)) return MLBCC_SKIP;
    u64 index = MLBCC_NO_FRAME;
    struct call_frame *frame = mlbcc_push(thread, MLBCC_ENTRY_SP(ctx), &index);
    MLBCC_BEGIN(index);
    if (!frame) return MLBCC_FRAMELESS();
    frame->sp = MLBCC_ENTRY_SP(ctx);
    frame->start = now;
    frame->probe = probe;
    frame->hits = hits;
    __builtin_memset(&MLBCC_SAVED(char, 0), 0, 64);
#line 2 "a.rules"
    mlbcc_read_text(&MLBCC_SAVED(char, 0), 64, (u64)(MLBCC_ARG2(ctx)));
    return 0;
}
#line 1 "shape_1"
#line 1 "probe_templates/return.bpf.c"
// The end of a call.
static __always_inline int shape_1_run(struct pt_regs *ctx) {
    u64 now = bpf_ktime_get_ns();
    u32 probe = MLBCC_PROBE(bpf_get_attach_cookie(ctx));
    struct identity id = {};
    mlbcc_identify(&id);
    struct accounts *all = mlbcc_accounts();
    if (!all) return 0;
    u64 start = MLBCC_BEGUN();
    struct thread_state *thread = threads.lookup(&id.thread);
    struct call_frame *frame = 0;
    if (thread) frame = mlbcc_pop(thread, MLBCC_RETURN_SP(ctx), probe, start);
    if (!frame) {
        return 0;
    }
    start = frame->start;
    u32 hits = frame->hits;
    if (hits & 1) {
        struct aggregate_0_key key = {};
#line 2 "a.rules"
        __builtin_memcpy(key.k0, &MLBCC_SAVED(char, 0), 64);
        struct aggregate_0_value *group = aggregate_0.lookup(&key);
        if (!group) {
            u32 zero = 0;
            struct aggregate_0_value *blank = aggregate_0_blank.lookup(&zero);
            if (blank) aggregate_0.insert(&key, blank);
            group = aggregate_0.lookup(&key);
        }
        if (group) {
            __sync_fetch_and_add(&group->count, 1);
        }
        else __sync_fetch_and_add(&all->rules[0].full, 1);
    }
    if (hits & 1) {
#line 3 "a.rules"
        u64 value = (now - start);
        u32 key = 0;
        struct aggregate_1_value *group = aggregate_1.lookup(&key);
        if (group) {
            __sync_fetch_and_add(&group->count, 1);
            __sync_fetch_and_add(&group->sum, value);
            if (~value > group->inverse_min) group->inverse_min = ~value;
            if (value > group->max) group->max = value;
            __sync_fetch_and_add(&group->buckets[mlbcc_bucket(value)], 1);
        }
        else __sync_fetch_and_add(&all->rules[0].full, 1);
    }
    return 0;
}
#line 1 "dispatch"
int on_call(struct pt_regs *ctx) {
    if (mlbcc_session_is_return()) {
        return shape_1_run(ctx);
    } else {
        return shape_0_run(ctx);
    }
    return 1;
}
