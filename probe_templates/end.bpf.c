// Submits the record that the program of a function's shape has left behind (mlbcc_leave_behind).
int end_call(struct pt_regs *ctx) {
{{own_stack}}    struct call call MLBCC_UNSET;
    call.ctx = ctx;
    call.ends_by = {{ends_by}};
    call.in_kernel = 0;
    if (mlbcc_find_behind(&call)) mlbcc_submit_behind(&call);
    return 0;
}
