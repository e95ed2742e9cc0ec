// A probe that a program brings along. ctx has the program's registers.
int {{name}}(struct pt_regs *ctx) {
{{own_stack}}    struct call call MLBCC_UNSET;
    call.ctx = ctx;
    call.ends_by = 0;
    if (!mlbcc_admit_function(&call)) return 0;
    mlbcc_take_cookie(&call, bpf_get_attach_cookie(ctx));
    call.sp = 0;
{{body}}}
