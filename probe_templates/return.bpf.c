// The end of a call.
{{linkage}}int {{name}}(struct pt_regs *ctx) {
    struct call call MLBCC_UNSET;
    call.ctx = ctx;
{{body}}    return 0;
}
