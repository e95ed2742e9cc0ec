// The beginning of a call. {{skip}} is returned where its end is of no interest.
{{linkage}}int {{name}}(struct pt_regs *ctx) {
{{own_stack}}    struct call call MLBCC_UNSET;
    call.ctx = ctx;
    call.ends_by = {{ends_by}};
    call.in_kernel = {{in_kernel}};
    if (!mlbcc_enter(&call)) return {{skip}};
{{body}}}
