// One program for both ends of a call (uprobe session). The start of a call, or that it has a frame,
// is in the 8 bytes that the kernel keeps for it; returning 1 at entry saves the return probe.
int {{name}}(struct pt_regs *ctx) {
    u32 probe = (u32)bpf_get_attach_cookie(ctx);
    if (mlbcc_session_is_return()) {
        {{name}}_leave(ctx, probe, *mlbcc_session_cookie());
        return 0;
    }
    u64 start = 0;
    if ({{name}}_enter(ctx, probe, &start) == 0) return 1;
    *mlbcc_session_cookie() = start;
    return 0;
}
