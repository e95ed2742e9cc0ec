// The end of a call.
{{linkage}}int {{name}}(struct pt_regs *ctx) {
{{own_stack}}    struct call call MLBCC_UNSET;
    call.ctx = ctx;
    call.ends_by = {{ends_by}};
    call.in_kernel = {{in_kernel}};
    call.sp = 0;
{{body}}    return 0;
}
