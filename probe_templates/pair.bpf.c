// An entry and a return program; what a call's end must know of its beginning is in its frame.
int {{name}}_entry(struct pt_regs *ctx) {
    u64 start = 0;
    {{name}}_enter(ctx, (u32)bpf_get_attach_cookie(ctx), &start);
    return 0;
}

int {{name}}_return(struct pt_regs *ctx) {
    {{name}}_leave(ctx, (u32)bpf_get_attach_cookie(ctx), 0);
    return 0;
}
