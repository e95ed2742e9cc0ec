// session on_call -
#line 1 "settings"
#define MLBCC_EVERYONE 0
#define MLBCC_USES_FRAMES 0
#define MLBCC_SESSION 1
#define MLBCC_NAMESPACE 0
#define MLBCC_SAVED_BYTES 8
#define MLBCC_FRAMES 64
#define MLBCC_SCRATCH_BYTES 64
#define MLBCC_ALL_RULES 1
#line 1 "maps"
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
    if (hits & 1) {
        struct arguments_record on_stack = {};
        struct arguments_record *record = &on_stack;
        mlbcc_header(&record->header, &id, now, probe, mlbcc_tail_call(ctx) | (hits & 1) << 8);
        record->header.sp = MLBCC_ENTRY_SP(ctx);
        u64 size = mlbcc_take_arguments(ctx, record, MLBCC_WORDS(cookie));
        int lost = events.perf_submit(ctx, record, size) != 0;
        mlbcc_account(&all->rules[MLBCC_ALL_RULES], lost);
        if (hits & 1) mlbcc_account(&all->rules[0], lost);
    }
    if (!(hits & 1)) return MLBCC_SKIP;
    MLBCC_BEGIN(now);
    return 0;
}
#line 1 "shape_1"
struct shape_1_record {
    struct record_header header;
    u64 start_ns;
    u64 f0;
};
MLBCC_SAME(shape_1_record, f0, 56);
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
    u32 hits = 1;
    if (hits & 1) {
        struct shape_1_record on_stack = {};
        struct shape_1_record *record = &on_stack;
        mlbcc_header(&record->header, &id, now, probe, 1 | (hits & 1) << 8);
        record->header.sp = MLBCC_RETURN_SP(ctx);
        record->start_ns = start;
        record->f0 = MLBCC_RETURN_VALUE(ctx);
        u64 size = 64;
        int lost = events.perf_submit(ctx, record, size) != 0;
        mlbcc_account(&all->rules[MLBCC_ALL_RULES], lost);
        if (hits & 1) mlbcc_account(&all->rules[0], lost);
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
