// The beginning of a call. MLBCC_SKIP is returned where its end is of no interest.
int {{name}}(struct pt_regs *ctx) {
    struct call call;
    call.ctx = ctx;
    if (!mlbcc_enter(&call)) return MLBCC_SKIP;
{{body}}}
