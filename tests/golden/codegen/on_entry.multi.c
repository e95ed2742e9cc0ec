// entry on_entry -
#line 1 "settings"
#define MLBCC_EVERYONE 0
#define MLBCC_USES_FRAMES 0
#define MLBCC_SESSION 0
#define MLBCC_NAMESPACE 0
#define MLBCC_SAVED_BYTES 8
#define MLBCC_FRAMES 64
#define MLBCC_SCRATCH_BYTES 64
#define MLBCC_ALL_RULES 1
#line 1 "maps"
#line 1 "shape_0"
struct shape_0_record {
    struct record_header header;
    u64 f0;
    u64 f1;
};
MLBCC_SAME(shape_0_record, f0, 48);
MLBCC_SAME(shape_0_record, f1, 56);
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
#line 2 "a.rules"
        s64 v0 = (((s64)(u32)(MLBCC_ARG1(ctx))) * ((s64)(u32)(MLBCC_ARG2(ctx))));
#line 2 "a.rules"
        char v1[16] = {};
        bpf_get_current_comm(v1, 16);
        s64 v2 = (s64)(((u8)v1[0] == 112 && (u8)v1[1] == 121 && (u8)v1[2] == 0));
        int wanted = 1 && ((s64)((v0) > ((s64)1ULL))) && (v2);
        if (wanted) hits |= 1;
    }
    if (!hits) return MLBCC_SKIP;
    if (hits & 1) {
        struct shape_0_record on_stack = {};
        struct shape_0_record *record = &on_stack;
        mlbcc_header(&record->header, &id, now, probe, mlbcc_tail_call(ctx) | (hits & 1) << 8);
        record->header.sp = MLBCC_ENTRY_SP(ctx);
#line 3 "a.rules"
        u64 v3 = 0; bpf_probe_read_user(&v3, 8, (void *)(MLBCC_STACK_ARG(ctx, 2)));
        record->f0 = v3;
#line 3 "a.rules"
        s64 v4 = mlbcc_signed_div((s64)(u32)(MLBCC_ARG4(ctx)), (s64)32ULL);
        record->f1 = v4;
        u64 size = 64;
        int lost = events.perf_submit(ctx, record, size) != 0;
        mlbcc_account(&all->rules[MLBCC_ALL_RULES], lost);
        if (hits & 1) mlbcc_account(&all->rules[0], lost);
    }
    return MLBCC_SKIP;
}
#line 1 "dispatch"
int on_entry(struct pt_regs *ctx) {
    return shape_0_run(ctx);
    return 0;
}
