// Submits the record that a function's own program has left behind (mlbcc_leave_behind).
int end_call(struct pt_regs *ctx) {
    struct call call MLBCC_UNSET;
    call.ctx = ctx;
    call.session = {{session}};
    call.in_kernel = 0;
    if (mlbcc_find_behind(&call)) mlbcc_submit(&call);
    return 0;
}

// The record of a call that found no frame free when it began is lost.
int lose_call(struct pt_regs *ctx) {
    struct call call MLBCC_UNSET;
    call.ctx = ctx;
    call.session = {{session}};
    call.in_kernel = 0;
    if (mlbcc_had_no_frame(&call)) mlbcc_lose(&call);
    return 0;
}
