// The record of a call that found no frame free when it began is lost. Only a session knows of it.
int lose_call(struct pt_regs *ctx) {
{{own_stack}}    struct call call MLBCC_UNSET;
    call.ctx = ctx;
    call.ends_by = MLBCC_BY_SESSION;
    call.in_kernel = 0;
    if (mlbcc_had_no_frame(&call)) mlbcc_lose(&call);
    return 0;
}
