// The end of a call.
int {{name}}(struct pt_regs *ctx) {
    struct call call;
    call.ctx = ctx;
{{body}}    return 0;
}
