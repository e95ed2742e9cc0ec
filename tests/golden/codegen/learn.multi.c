// entry shape_0 0
// return shape_1 1
// entry shape_2 2
// return shape_3 3
// entry on_entry -
// return on_return -
#line 1 "settings"
#define MLBCC_EVERYONE 0
#define MLBCC_USES_FRAMES 1
#define MLBCC_SESSION 0
#define MLBCC_NAMESPACE 0
#define MLBCC_SAVED_BYTES 112
#define MLBCC_FRAMES 64
#define MLBCC_SCRATCH_BYTES 144
#define MLBCC_ALL_RULES 2
#line 1 "maps"
struct aggregate_0_value {
    u64 count;
};
struct aggregate_0_key {
    u64 k0;
    u64 k1;
};
BPF_F_TABLE("percpu_hash", struct aggregate_0_key, struct aggregate_0_value, aggregate_0, 10240, BPF_F_NO_PREALLOC);
BPF_ARRAY(aggregate_0_blank, struct aggregate_0_value, 1);
BPF_PROG_ARRAY(shapes, 4);
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
    MLBCC_TAKE_REGISTERS(ctx, (u64 *)frame->saved);
#line 1 "a.rules"
    mlbcc_read_text(&MLBCC_SAVED(char, 48), 64, (u64)(MLBCC_ARG2(ctx)));
    return 0;
}
int shape_0(struct pt_regs *ctx) { return shape_0_run(ctx); }
#line 1 "shape_1"
struct shape_1_record {
    struct record_header header;
    u64 start_ns;
    u64 unread;
    u64 f0;
    char f1[64];
    u64 f2;
};
MLBCC_SAME(shape_1_record, f0, 64);
MLBCC_SAME(shape_1_record, f1, 72);
MLBCC_SAME(shape_1_record, f2, 136);
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
        struct shape_1_record on_stack = {};
        struct shape_1_record *record = &on_stack;
        mlbcc_header(&record->header, &id, now, probe, 1 | (hits & 1) << 8);
        record->header.sp = MLBCC_RETURN_SP(ctx);
        record->start_ns = start;
        record->unread = 0;
#line 1 "a.rules"
        u64 v0 = 0; int v0_failed = bpf_probe_read_user(&v0, 8, (void *)((u64)((u64)(MLBCC_SAVED(u64, 0))))) != 0;
        record->f0 = (u64)(v0);
        if (v0_failed) record->unread |= 1ULL;
#line 1 "a.rules"
        __builtin_memcpy(record->f1, &MLBCC_SAVED(char, 48), 64);
        record->f2 = MLBCC_RETURN_VALUE(ctx);
        u64 size = 144;
        int lost = events.perf_submit(ctx, record, size) != 0;
        mlbcc_account(&all->rules[MLBCC_ALL_RULES], lost);
        if (hits & 1) mlbcc_account(&all->rules[0], lost);
    }
    return 0;
}
int shape_1(struct pt_regs *ctx) { return shape_1_run(ctx); }
#line 1 "shape_2"
#line 1 "probe_templates/entry.bpf.c"
// The beginning of a call. MLBCC_SKIP is returned where its end is of no interest.
static __always_inline int shape_2_run(struct pt_regs *ctx) {
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
    MLBCC_TAKE_REGISTERS(ctx, (u64 *)frame->saved);
    return 0;
}
int shape_2(struct pt_regs *ctx) { return shape_2_run(ctx); }
#line 1 "shape_3"
#line 1 "probe_templates/return.bpf.c"
// The end of a call.
static __always_inline int shape_3_run(struct pt_regs *ctx) {
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
        key.k0 = (u64)(MLBCC_SAVED(u64, 0));
        key.k1 = id.pid;
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
        else __sync_fetch_and_add(&all->rules[1].full, 1);
    }
    return 0;
}
int shape_3(struct pt_regs *ctx) { return shape_3_run(ctx); }
#line 1 "dispatch"
int on_entry(struct pt_regs *ctx) {
    shapes.call(ctx, MLBCC_ENTRY_SHAPE(bpf_get_attach_cookie(ctx)));
    return 0;
}
#line 1 "dispatch"
int on_return(struct pt_regs *ctx) {
    shapes.call(ctx, MLBCC_RETURN_SHAPE(bpf_get_attach_cookie(ctx)));
    return 0;
}
