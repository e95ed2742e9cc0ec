// What rules save of a call, behind begin.bpf.c.
int {{name}}(struct pt_regs *ctx) {
{{own_stack}}    struct call_frame *frame = mlbcc_innermost();
    if (!frame) return 0;
{{body}}    return 0;
}
