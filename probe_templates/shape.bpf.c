// One shape: what is done at the two ends of a call. `enter` gives 0 where the end of the call is of
// no interest, else 1 with the time of its beginning.
static __always_inline int {{name}}_enter(struct pt_regs *ctx, u32 probe, u64 *begin) {
    struct identity id = {};
    if (!mlbcc_admit(&id)) return 0;
    u64 now = bpf_ktime_get_ns();
{{entry}}}

static __always_inline void {{name}}_leave(struct pt_regs *ctx, u32 probe, u64 start) {
    u64 now = bpf_ktime_get_ns();
    struct identity id = {};
    mlbcc_identify(&id);
{{return}}}
