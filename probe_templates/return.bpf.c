// The end of a call.
static __always_inline int {{name}}_run(struct pt_regs *ctx) {
    u64 now = bpf_ktime_get_ns();
    u32 probe = MLBCC_PROBE(bpf_get_attach_cookie(ctx));
    struct identity id = {};
    mlbcc_identify(&id);
    struct accounts *all = mlbcc_accounts();
    if (!all) return 0;
    u64 start = MLBCC_BEGUN();
{{body}}    return 0;
}
