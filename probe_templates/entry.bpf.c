// The beginning of a call. MLBCC_SKIP is returned where its end is of no interest.
{{linkage}}int {{name}}(struct pt_regs *ctx) {
    struct call call MLBCC_UNSET;
    call.ctx = ctx;
    if (!mlbcc_enter(&call)) return MLBCC_SKIP;
{{body}}}
