// entry on_entry -
// return on_return -
#line 1 "settings"
#define MLBCC_EVERYONE 0
#define MLBCC_USES_FRAMES 1
#define MLBCC_SESSION 0
#define MLBCC_NAMESPACE 0
#define MLBCC_SAVED_BYTES 48
#define MLBCC_FRAMES 64
#define MLBCC_SCRATCH_BYTES 72
#define MLBCC_ALL_RULES 1
#line 1 "maps"
BPF_PERCPU_ARRAY(samples, u64, 1);
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
    u32 hits = 0;
    {
        int wanted = 1;
        if (wanted) {
            u32 slot = 0;
            u64 *seen = samples.lookup(&slot);
            wanted = seen && (*seen)++ % 100 == 0;
        }
        if (wanted) hits |= 1;
    }
    if (!hits) return MLBCC_SKIP;
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
#line 1 "shape_1"
struct shape_1_record {
    struct record_header header;
    u64 start_ns;
    u64 f0;
    u64 f1;
};
MLBCC_SAME(shape_1_record, f0, 56);
MLBCC_SAME(shape_1_record, f1, 64);
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
#line 1 "a.rules"
        record->f0 = MLBCC_SAVED(u64, 0);
        record->f1 = MLBCC_RETURN_VALUE(ctx);
        u64 size = 72;
        int lost = events.perf_submit(ctx, record, size) != 0;
        mlbcc_account(&all->rules[MLBCC_ALL_RULES], lost);
        if (hits & 1) mlbcc_account(&all->rules[0], lost);
    }
    return 0;
}
#line 1 "dispatch"
int on_entry(struct pt_regs *ctx) {
    return shape_0_run(ctx);
    return 0;
}
#line 1 "dispatch"
int on_return(struct pt_regs *ctx) {
    return shape_1_run(ctx);
    return 0;
}
